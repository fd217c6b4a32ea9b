"""Evaluation: every player in every game of a suite, beside random play as the chance level and the exact figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stratagem.errors import CannotCompute, StratagemError
from stratagem.evaluation.bouts import Bout, Table, pay_of
from stratagem.evaluation.by_seat import SeatFigures, by_seat
from stratagem.evaluation.exact import Exact, exact
from stratagem.evaluation.metrics import METRICS, Sample
from stratagem.evaluation.statistics import Difference, Estimate, paired_difference
from stratagem.evaluation.suites import Line, Suite
from stratagem.evaluation.validity import Validity, validity
from stratagem.games.base import Game
from stratagem.games.catalogue import make_game
from stratagem.models.reference import placeless
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.human import at_keyboard
from stratagem.players.pools import overlap_warning

Progress = Callable[[str], None]
CHANCE = "random"
"""Who stands for the chance level."""


@dataclass(frozen=True)
class Row:
    """One player's figures in one game."""

    player: str
    metrics: dict[str, Estimate | None]
    exact: Exact | None
    why_not_exact: str
    bouts: tuple[Bout, ...]
    errors: tuple[str, ...]
    """What players said when they raised, each once."""
    validity: Validity | None
    """How a language model replied."""
    nulls: dict[str, float]
    """By metric, the figure under the null hypothesis, of those that have one."""
    by_seat: tuple[SeatFigures, ...] = ()
    """Seat by seat, where seats have names or it was asked for."""


@dataclass(frozen=True)
class GameResult:
    """One game of a suite."""

    game: Game[Any]
    text: str
    rows: tuple[Row, ...]
    differences: dict[str, Difference]
    """Each further player's pay less the first's, on the same deals, by name."""
    warnings: tuple[str, ...] = field(default=())


def evaluate(
    suite: Suite,
    players: Sequence[str],
    table: Table,
    *,
    chance: bool = True,
    seats: bool = False,
    progress: Progress = lambda _: None,
) -> list[GameResult]:
    """Measure the players, who are named, in every game of the suite; seat by seat where `seats` or they have names."""
    wanted = _heroes(players, chance)
    made = [(line, make_game(line.game)) for line in suite.lines]
    for line, game in made:  # every name is checked before the first game is played
        seated = [*_players(wanted, game), *(player for player, _ in _opponents(line, game))]
        if any(at_keyboard(player) for player in seated):
            raise StratagemError("An evaluation plays hundreds of episodes: a human takes a seat in `stratagem play`.")
    return [_game(suite, line, game, wanted, table, progress, seats=seats) for line, game in made]


def num_rows(suite: Suite, players: Sequence[str], *, chance: bool = True) -> int:
    """How many players an evaluation measures, over its games."""
    return len(_heroes(players, chance)) * len(suite.lines)


def _heroes(players: Sequence[str], chance: bool) -> list[str]:
    """Every name once, and the chance level last unless it was asked for."""
    found: dict[str, str] = {}
    for name in (*players, CHANCE) if chance else players:
        found.setdefault(name.strip().casefold(), name)
    return list(found.values())


def _players(names: Sequence[str], game: Game[Any]) -> list[Player]:
    """Each player once, however often and in how many ways it was named."""
    made = (make_player(name, game) for name in names)
    return list({player.name: player for player in made}.values())


def _opponents(line: Line, game: Game[Any]) -> list[tuple[Player, tuple[str, ...]]]:
    """Each opponent once, with the pools it stands in."""
    found: dict[str, tuple[Player, list[str]]] = {}
    for pool, names in line.pools.items():
        for name in names:
            found.setdefault(name, (make_player(name, game), []))[1].append(pool)
    return [(player, tuple(pools)) for player, pools in found.values()]


def _game(
    suite: Suite, line: Line, game: Game[Any], names: Sequence[str], table: Table, progress: Progress, *, seats: bool
) -> GameResult:
    players = _players(names, game)
    rows = tuple(measured(suite, line, game, player, table, progress, seats=seats) for player in players)
    pooled = "train" in line.pools
    warnings = [overlap_warning(game)] if pooled else []
    warnings += [f"{row.player}: {error}" for row in rows for error in row.errors]
    return GameResult(game, line.game, rows, differences(rows, table), tuple(filter(None, warnings)))


def measured(
    suite: Suite,
    line: Line,
    game: Game[Any],
    hero: Player,
    table: Table,
    progress: Progress = lambda _: None,
    *,
    seats: bool = False,
) -> Row:
    """One player's figures in one game of a suite."""
    opponents = _opponents(line, game)
    progress(f"{line.game}: {hero.name} against {len(opponents)} opponents")
    bouts = table.bouts(game, hero, opponents)
    return row_of(game, hero.name, bouts, suite.metrics, _exact(game, hero, table.exact_budget), seats=seats)


def row_of(
    game: Game[Any],
    player: str,
    bouts: Sequence[Bout],
    wanted: Sequence[str],
    found: tuple[Exact | None, str],
    *,
    seats: bool = False,
) -> Row:
    """A player's figures by these metrics from what was played, and the exact one or why there is none."""
    sample = Sample(game, tuple(bouts))
    metrics = {name: METRICS[name].measure(sample) for name in wanted}
    nulls = {name: null for name in wanted if (null := METRICS[name].null(sample)) is not None}
    seat_rows = by_seat(game, bouts, wanted) if seats or game.spec.seat_names else ()
    return Row(player, metrics, *found, sample.bouts, raised(bouts), validity(bouts), nulls, seat_rows)


def _exact(game: Game[Any], hero: Player, budget: int) -> tuple[Exact | None, str]:
    try:
        return exact(game, hero, budget), ""
    except CannotCompute as error:
        return None, str(error)


def raised(bouts: Sequence[Bout]) -> tuple[str, ...]:
    """What players said when they raised instead of moving, each message once."""
    said = [
        f"a turn {'' if episode.slots[row.seat] == 0 else f'of {bout.opponent} '}failed: {row.said}"
        for bout in bouts
        for episode in bout.episodes
        for row in episode.decisions
        if row.how == "error"
    ]
    return tuple(dict.fromkeys(said))[:5]


def differences(rows: Sequence[Row], table: Table) -> dict[str, Difference]:
    """Pay against the opponents of the train pool (or all), deal by deal."""
    if not rows:
        return {}
    first = _pay_by_deal(rows[0])
    found = {}
    for row in rows[1:]:
        other = _pay_by_deal(row)
        deals = sorted(first.keys() & other.keys())
        key = table.key.at("difference", placeless(row.player))
        found[row.player] = paired_difference([other[deal] for deal in deals], [first[deal] for deal in deals], key)
    return found


def _pay_by_deal(row: Row) -> dict[tuple[str, str], float]:
    bouts = [bout for bout in row.bouts if {"train", "opponents"} & set(bout.pools)]
    return {
        (bout.opponent, deal.rpartition("/")[2]): pay
        for bout in bouts
        for deal, pay in bout.by_deal(lambda episode: pay_of(episode, episode.seat_of(0))).items()
    }


def shortened(table: Table, episodes: int | None, suite: Suite) -> Table:
    """The table with the number of episodes asked for, or the suite's own."""
    number = suite.episodes if episodes is None else episodes
    if number < 1:
        raise StratagemError("An evaluation needs at least one episode an opponent.")
    return replace(table, episodes=number)
