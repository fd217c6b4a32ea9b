"""Tables of an evaluation: the first screen of each game, then all figures, replies, opponents and seats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan

from stratagem.measure.evaluate import CHANCE
from stratagem.measure.figures.catalogue import figures_of, stored_figure
from stratagem.measure.figures.figure import Figure
from stratagem.measure.statistics import LEAST_FLIPPED, Estimate
from stratagem.measure.validity import ENDS, KINDS
from stratagem.show.cells import number, text_of
from stratagem.show.drawn_tables import table_over_draws
from stratagem.show.evaluation_file import DifferenceFigures, EvaluationFigures, GameTable, PlayerFigures
from stratagem.show.exploitability_cells import basis_of, cells_of, estimate_of
from stratagem.show.table import Column, ResultTable, TableRow, Value, columns_of, text_table

LONGEST = 48
"""Number of characters from which a name is replaced by its number."""
_PAYOFF = "payoff"
_FIRST = ("win rate", "first", "sole first", "centres", "payoff", "exploitability", "safety", "illegal")
"""Figures of the first screen in their order; further ones that were requested follow."""
Milliseconds = Mapping[tuple[str, str], float]
"""Time of a decision by game and player, which no file has, since it differs between two equal evaluations."""


def evaluation_tables(
    evaluation: EvaluationFigures,
    *,
    requested: Sequence[str] = (),
    stages: Mapping[str, str] | None = None,
    chosen: str = "",
    ms: Milliseconds | None = None,
) -> list[ResultTable]:
    """Return the tables of all games.

    `requested` are metrics that the first screen has besides its own; `stages` are the names of a run's models by
    player, of which one is the `chosen`; `ms` is the time of a decision.
    """
    games = [
        GameTables(game, evaluation, tuple(requested), stages or {}, chosen, ms or {}) for game in evaluation.games
    ]
    over = table_over_draws(evaluation, stages)
    return [*over, *(table for game in games for table in game.tables())]


@dataclass(frozen=True)
class GameTables:
    """Tables of one game."""

    game: GameTable
    evaluation: EvaluationFigures
    requested: tuple[str, ...] = ()
    stages: Mapping[str, str] = field(default_factory=dict)
    chosen: str = ""
    ms: Milliseconds = field(default_factory=dict)

    @cached_property
    def players(self) -> list[PlayerFigures]:
        """Players in the order of the run's stages, then the others in their own."""
        order = {player: place for place, player in enumerate(self.stages)}
        return sorted(self.game.players, key=lambda row: order.get(row.player, len(order)))

    @cached_property
    def metrics(self) -> list[str]:
        """Names of the metrics that are measured in the game."""
        return list(dict.fromkeys(name for row in self.players for name in row.metrics))

    def tables(self) -> Iterator[ResultTable]:
        """Yield the first screen, then the other tables that have figures."""
        yield self.main()
        metrics = tuple(map(stored_figure, self.metrics))
        yield self._table("on the common scale" if self._scaled else "", metrics, _metric)
        if (
            any(row.exploitability.estimate is not None for row in self.players)
            or self._scaled
            or self._has_met("exploit")
        ):
            yield self._table(f"unscaled, in {self.game.unit}", self._unscaled_figures(), self._unscaled_value)
        if any(row.replies for row in self.players):
            yield self._replies()
        if any(row.in_other_words for row in self.players):
            yield self._other_words()
        yield self._opponents()
        yield from self._seats()

    @property
    def _scaled(self) -> bool:
        return self.game.scale != 1.0

    def _has_met(self, pool: str) -> bool:
        return any(pool in opponent.pools for row in self.players for opponent in row.opponents)

    def _table(
        self, caption: str, figures: Sequence[Figure], value: Callable[[PlayerFigures, Figure], Value]
    ) -> ResultTable:
        """Return a row for each player and a column for each figure, then the levels of the null hypothesis."""
        rows = [
            TableRow((self.name_of(row.player), *(value(row, figure) for figure in figures)), self._kind(row))
            for row in self.players
        ]
        title = ", ".join(filter(None, [self.game.game, caption]))
        nulls = self._nulls(figures, 1.0) if value is _metric else []
        return ResultTable(title, ("player", *figures), (*rows, *nulls), main=False)

    def _kind(self, row: PlayerFigures) -> str:
        return "chance" if row.player == CHANCE else "counts" if row.player == self.chosen else ""

    # The first screen

    def main(self) -> ResultTable:
        """Return the first screen: figures that need no other page, in the unit of the game."""
        figures = self._main_figures()
        counts = self.players[0].opponents if self.players else []
        episodes = f"   {counts[0].episodes} episodes per opponent" if counts and counts[0].episodes else ""
        rows = [
            TableRow(
                (self.name_of(row.player), *(self._main_value(row, figure) for figure in figures)), self._kind(row)
            )
            for row in self.players
        ]
        nulls = self._nulls(figures, self.game.scale)
        title = f"{self.game.game}{episodes}, in {self.game.unit}"
        return ResultTable(
            title, ("player", *figures), (*rows, *nulls), tuple(self._notes()), tuple(self.game.warnings)
        )

    def _main_figures(self) -> list[Figure]:
        """Return the figures of the first screen that are defined for somebody; safety where there is a third party."""
        names = dict.fromkeys([*_FIRST, *(name for name in self.metrics if stored_figure(name).main), *self.requested])
        return [stored_figure(name) for name in names if self._is_shown(name)]

    def _is_shown(self, name: str) -> bool:
        shown = [self._main_value(row, stored_figure(name)) for row in self.players]
        if name == "safety":
            return any(row.metrics.get("collusion") is not None for row in self.players) and any(shown)
        if name == "illegal":
            return any(isinstance(value, Estimate) and value.mean > 0 for value in shown)
        return any(value is not None for value in shown)

    def _main_value(self, row: PlayerFigures, figure: Figure) -> Value:
        if figure.key == _PAYOFF:
            return row.unscaled.payoff
        return estimate_of(row.exploitability) if figure.key == "exploitability" else row.metrics.get(figure.key)

    def _nulls(self, figures: Sequence[Figure], scale: float | None) -> list[TableRow]:
        """Return the nulls in one row if all players have the same, else in a row a player."""
        of_players = [(row, tuple(_null(row, figure, scale) for figure in figures)) for row in self.players]
        known = [(row, nulls) for row, nulls in of_players if any(null != "" for null in nulls)]
        if not known:
            return []
        digits = [figure.digits for figure in figures]
        if len({tuple(map(text_of, nulls, digits)) for _, nulls in known}) == 1:
            return [_null_row("null", known[0][1])]
        return [_null_row(f"null of {self.name_of(row.player)}", nulls) for row, nulls in known]

    def _notes(self) -> Iterator[str]:
        """Yield the names that are numbers, differences from the first player, and what figures are based on."""
        yield from (f"[{place}] is {name}" for place, name in enumerate(self._long_names, 1))
        for row in self.players[1:]:
            found = self.game.differences_on_played_deals.get(row.player)
            if row.player != CHANCE and found is not None:
                yield self._difference(row, found)
        lacking = [why for row in self.players if (why := row.exploitability.lacks_exact)]
        yield from dict.fromkeys(f"no exact figure: {reason}" for reason in lacking)
        for row in self.players:
            yield from basis_of(self.name_of(row.player), row.exploitability)

    def _difference(self, row: PlayerFigures, found: DifferenceFigures) -> str:
        """Return the difference of two payoffs in the game's unit: exact where both are, else on the same deals."""
        first = self.players[0]
        title = f"{self.name_of(row.player)} minus {self.name_of(first.player)}"
        own, base = row.metrics.get(_PAYOFF), first.metrics.get(_PAYOFF)
        unit = 1.0 / (self.game.scale or 1.0)
        if own is not None and base is not None and own.exact and base.exact:
            return f"{title}: payoff {number((own.mean - base.mean) * unit)} (exact)"
        if not found.estimate.n:
            return f"{title}: they have no deal in common"
        least = found.detectable
        why = "fewer than six deals" if found.estimate.n < LEAST_FLIPPED else "all deals differ alike"
        shown = f"– ({why})" if least is None or isnan(least) else number(least * unit)
        many = found.holm_p is not None and len(self.evaluation.family.comparisons) > 1
        p = f"p = {found.p_value:.4f}" + (f", Holm p = {found.holm_p:.4f}" if many else "")
        estimate = found.estimate.times(unit)
        return f"{title} on the same deals: payoff {estimate}, {p}, minimum detectable difference {shown}"

    # Further tables

    def _unscaled_figures(self) -> tuple[Figure, ...]:
        return figures_of(_PAYOFF, "pool_advantage", "worst_advantage", "exploitability", "nash_conv", "value", "gain")

    def _unscaled_value(self, row: PlayerFigures, figure: Figure) -> Value:
        values: dict[str, Value] = {
            _PAYOFF: row.unscaled.payoff,
            "pool_advantage": row.unscaled.pool_advantage,
            **cells_of(row.exploitability),
        }
        return values[figure.key]

    def _replies(self) -> ResultTable:
        """Return how the language models replied, and the cost of a decision."""
        found = {row.player: row.replies for row in self.players if row.replies is not None}
        kinds = [
            kind for kind in KINDS if kind == "illegal" or any(_positive(r.shares.get(kind)) for r in found.values())
        ]
        ends = [end for end in ENDS if any(_positive(replies.ends.get(end)) for replies in found.values())]
        keys = ["decisions", *(f"replies/{name}" for name in (*kinds, *ends)), "prompt_tokens", "reply_tokens", "ms"]
        rows = [
            (
                self.name_of(player),
                replies.num_decisions,
                *map(replies.shares.get, kinds),
                *map(replies.ends.get, ends),
                replies.per_decision.prompt_tokens,
                replies.per_decision.reply_tokens,
                self.ms.get((self.game.game, player)),
            )
            for player, replies in found.items()
        ]
        return _further(f"{self.game.game}, replies", ("player", *figures_of(*keys)), rows)

    def _other_words(self) -> ResultTable:
        """Return a row for each player in plain words, and one for each of its disguises."""
        rows: list[tuple[Value, ...]] = []
        for row in self.players:
            if row.in_other_words:
                rows.append((self.name_of(row.player), row.metrics.get(_PAYOFF), "", row.metrics.get("illegal"), ""))
            rows += [
                (f"  {self.name_of(one.player)}", one.payoff, one.gap, one.illegal, one.proof or None)
                for one in row.in_other_words
            ]
        columns = columns_of("player", *figures_of(_PAYOFF, "memorisation_gap", "illegal"), "the same game")
        scale = ", on the common scale" if self._scaled else ""
        return _further(f"{self.game.game}, in other words{scale}", columns, rows)

    def _opponents(self) -> ResultTable:
        """Return each player's figures against each opponent, in the unit of the game."""
        rows = [
            (
                self.name_of(row.player),
                self.name_of(one.opponent),
                ", ".join(one.pools),
                one.episodes,
                one.unscaled_payoff,
                one.unscaled_advantage,
            )
            for row in self.players
            for one in row.opponents
        ]
        columns = columns_of("player", "opponent", "pools", *figures_of("episodes", _PAYOFF, "opponent_advantage"))
        return _further(f"{self.game.game}, by opponent, in {self.game.unit}", columns, rows)

    def _seats(self) -> Iterator[ResultTable]:
        """Yield a player's figures at each seat against an opponent."""
        for row in self.players:
            for opponent in dict.fromkeys(seat.opponent for seat in row.by_seat if any(seat.metrics.values())):
                seats = [seat for seat in row.by_seat if seat.opponent == opponent]
                names = [name for name in seats[0].metrics if any(seat.metrics[name] for seat in seats)]
                lines = [(seat.seat, seat.episodes, *(seat.metrics[name] for name in names)) for seat in seats]
                title = f"{self.name_of(row.player)} by seat, against {self.name_of(opponent)}"
                yield _further(
                    f"{self.game.game}, {title}", ("seat", *figures_of("episodes"), *map(stored_figure, names)), lines
                )

    # Names

    def name_of(self, player: str) -> str:
        """Return the stage of a run, or the name without the family in the title; of a long name its number."""
        if player in self.stages:
            return self.stages[player][:1].upper() + self.stages[player][1:]
        bare = self._bare(player)
        return f"[{self._long_names.index(bare) + 1}]" if bare in self._long_names else bare

    @cached_property
    def _long_names(self) -> list[str]:
        """Long names of the players, of their opponents and of the players in disguise, each once."""
        names = [row.player for row in self.players if row.player not in self.stages]
        names += [one.opponent for row in self.players for one in row.opponents]
        names += [one.player for row in self.players for one in row.in_other_words]
        return [name for name in dict.fromkeys(map(self._bare, names)) if len(name) > LONGEST]

    def _bare(self, name: str) -> str:
        game = self.game.game.partition("(")[0]
        prefix, _, rest = name.partition("/")
        bare = rest if rest and prefix in (game, game.partition("-")[0]) else name
        return "random (chance)" if bare == CHANCE else bare


def _metric(row: PlayerFigures, figure: Figure) -> Value:
    return row.metrics.get(figure.key)


def _null(row: PlayerFigures, figure: Figure, scale: float | None) -> float | str | None:
    """Return the level of the null hypothesis; empty where the figure has none, None where it is no number."""
    null = row.nulls.get(figure.key, "")
    return null / scale if isinstance(null, float) and figure.key == _PAYOFF and scale else null


def _null_row(name: str, nulls: Sequence[float | str | None]) -> TableRow:
    return TableRow((name, *nulls), "null")


def _positive(share: Estimate | None) -> bool:
    return share is not None and share.mean > 0


def _further(title: str, columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> ResultTable:
    """Return a table that is printed with `--all` alone."""
    return ResultTable(title, tuple(columns), text_table("", columns, rows).rows, main=False)
