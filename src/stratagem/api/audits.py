"""Audits: `audit` asks an agent in several games, and returns its card; further functions compare cards."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_path, as_text, several
from stratagem.api.audit_plans import checked_plan
from stratagem.api.mistakes import one_sentence
from stratagem.api.pictures import bars
from stratagem.api.player_like import PlayerLike
from stratagem.api.progress import counted
from stratagem.api.result import Plotted, remarks_on
from stratagem.api.serving import serving
from stratagem.auditing.card import Card, read_card
from stratagem.auditing.compare import Change, changes, left_out
from stratagem.auditing.condition import Outcome
from stratagem.auditing.figure import GROUPS, Group
from stratagem.auditing.figure import Figure as CardFigure
from stratagem.auditing.junit import junit
from stratagem.auditing.leaderboard import Place, leaderboard
from stratagem.auditing.pace import warnings_of
from stratagem.auditing.page import card_page
from stratagem.auditing.plan import DECISIONS, GAMES
from stratagem.auditing.probes.base import StrategyLine
from stratagem.auditing.run import run_audit
from stratagem.auditing.words import ends, replay, told, verdict
from stratagem.engines.outcomes import outcomes_of
from stratagem.evaluation.statistics import Estimate
from stratagem.files import write_file
from stratagem.games.base import Json
from stratagem.players.given import GameLike
from stratagem.show.cells import number
from stratagem.show.table import Numbers, Table, columns_of, text_table

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

PAGE, JUNIT = "card.html", "junit.xml"
"""Further forms of the card in the folder of an audit."""
_LINES = 12
"""Number of moves of an exploiting strategy that are printed."""

__all__ = ["Audit", "Comparison", "Ranking", "audit", "compare_audits", "rank_audits"]


@dataclass(frozen=True, repr=False)
class Audit(Plotted):
    """Card of an agent, with the outcomes of conditions."""

    card: Card
    """Figures, strategies that exploit the agent, and the cost, as they are saved."""
    outcomes: dict[str, Outcome]
    """Outcome of each condition by its text."""
    folder: Path | None = None
    """Folder of the audit; None where it was not written."""

    @property
    def alarms(self) -> list[CardFigure]:
        """Figures whose null hypothesis is rejected."""
        return self.card.alarms

    def rows(self) -> list[Json]:
        """Return one row for each figure."""
        return [figure.to_json() for figure in self.card.figures]

    def to_json(self) -> Json:
        """Return the card, as `stratagem audit --json` prints it."""
        return {**self.card.to_json(), "conditions": dict(self.outcomes)}

    def tables(self) -> list[Table]:
        columns = columns_of("figure", *map(Numbers, ("value", "limits", "random play", "Holm p", "n")), "")
        return [
            text_table(self._title(group), columns, [_row(figure) for figure in figures])
            for group in GROUPS
            if (figures := [figure for figure in self.card.figures if figure.group == group])
        ]

    def _title(self, group: Group) -> str:
        return f"{self.card.agent}: {f'against {self.card.baseline}' if group == 'against' else group}"

    def remarks(self) -> list[str]:
        """Return the verdict with its replays, exploiting strategies, what was not measured, and the conditions."""
        return [
            *verdict(self.card),
            *(f"{name}: {command}" for name, command in self.replays.items()),
            *(line for game, moves in self.card.strategies.items() for line in _strategy(game, moves)),
            *(f"{name}: not measured. {reason}" for name, reason in self._not_measured.items()),
            *(f"{text}: {told(self.card, text, outcome)}" for text, outcome in self.outcomes.items()),
            *remarks_on(outcomes_of(self.card.requests)),
        ]

    @property
    def _not_measured(self) -> dict[str, str]:
        """Reason why a figure has no value, by its name, and why a probe was left out."""
        return {one.name: one.why_not for one in self.card.figures if one.why_not} | {**self.card.not_measured}

    @property
    def replays(self) -> dict[str, str]:
        """Command that shows an episode of an alarm, by the name of its figure; none without a folder."""
        shown = {} if self.folder is None else {one.name: replay(one, str(self.folder)) for one in self.alarms}
        return {name: command for name, command in shown.items() if command}

    @one_sentence
    def save(self, path: str | Path) -> Path:
        """Write the page to a path that ends in `.html`, JUnit's form to one in `.xml`, else the card as JSON."""
        target = as_path(path, "file")
        if target.suffix == ".html":
            write_file(target, card_page(self.card, self.outcomes))
        elif target.suffix == ".xml":
            write_file(target, junit(self.card, self.outcomes))
        else:
            return super().save(target)
        return target

    def plot(self) -> Figure:
        """Draw the exploitability in each game, with its limits."""
        drawn = {
            figure.name: {self.card.agent: Estimate(centre, low=figure.lower, high=figure.upper)}
            for figure in self.card.figures
            if figure.group == "exploitability" and (centre := _centre(figure)) is not None
        }
        return bars(f"{self.card.agent}: exploitability", "unit of each game", drawn)


def _centre(figure: CardFigure) -> float | None:
    return figure.lower if figure.value is None else figure.value


def _strategy(game: str, moves: Sequence[StrategyLine]) -> list[str]:
    """Return a strategy that exploits the agent in words, its first moves where it is long."""
    told = [f"  seat {move.seat}: {move.situation} {move.action}" for move in moves[:_LINES]]
    more = [f"  and {len(moves) - _LINES} more moves, in the card"] if len(moves) > _LINES else []
    return [f"To exploit it in {game}:", *told, *more]


def _shown(value: float | None) -> str:
    return "–" if value is None else number(value)


def _row(figure: CardFigure) -> tuple[str, ...]:
    mark = next((text for text, holds in _marks(figure).items() if holds), "")
    values = (_shown(figure.value), ends(figure, number), _shown(figure.chance), _shown(figure.holm_p))
    return (figure.name, *values, str(figure.n or "–"), mark)


def _marks(figure: CardFigure) -> dict[str, bool]:
    return {"alarm": figure.alarm, "differs": figure.differs, "not measured": bool(figure.why_not)}


@dataclass(frozen=True, repr=False)
class Comparison(Plotted):
    """Changes between two audits."""

    before: Card
    after: Card
    changes: tuple[Change, ...]

    def rows(self) -> list[Json]:
        """Return one row for each figure that both have."""
        return [change.to_json() for change in self.changes]

    def to_json(self) -> Json:
        """Return the changes, as `stratagem compare --json` prints them."""
        return {"before": self.before.agent, "after": self.after.agent, "changes": self.rows()}

    def tables(self) -> list[Table]:
        columns = columns_of("figure", *map(Numbers, ("before", "after", "change", "limits of the change")), "")
        rows = [
            (
                change.name,
                _shown(change.before.value),
                _shown(change.after.value),
                _shown(change.difference),
                "–" if change.lower is None or change.upper is None else f"{change.lower:.3f} … {change.upper:.3f}",
                "changed" if change.changed else "",
            )
            for change in self.changes
        ]
        return [text_table(f"{self.before.agent}, then {self.after.agent}", columns, rows)]

    def remarks(self) -> list[str]:
        """Name the figures that changed beyond their limits."""
        changed = [change.name for change in self.changes if change.changed]
        verdict = f"Changed: {', '.join(changed)}." if changed else "No figure changed beyond its limits."
        return [verdict, *left_out(self.before, self.after)]

    def plot(self) -> Figure:
        """Draw the changes with their limits."""
        drawn = {
            change.name: {"change": Estimate(change.difference, low=change.lower, high=change.upper)}
            for change in self.changes
            if change.difference is not None
        }
        return bars(f"{self.before.agent}, then {self.after.agent}", "change", drawn)


@one_sentence
def audit(
    player: PlayerLike,
    *,
    games: GameLike | Sequence[GameLike] = GAMES,
    against: PlayerLike | None = None,
    decisions: int = DECISIONS,
    seed: int = 0,
    out: str | Path | None = None,
    fail_if: str | Sequence[str] = (),
    probes: str | Sequence[str] = (),
    engine: str | None = None,
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = True,
) -> Audit:
    """Measure how exploitable, safe, able and consistent an agent is, from its replies alone.

    `against` is a baseline that is asked the same with the same keys; the card then has the differences from it.
    `decisions` is the number of decisions that each is asked for at most, shared by the games; of those of a game each
    probe has its own share. `probes` are further probes, such as `own.py:Own`, with their shares on top. `out` is a
    folder for the card, its page and the records; the same call goes on with a stopped audit there, and asks nothing
    twice. `fail_if` are conditions such as `kuhn.exploitability.lower > 0.1`; `outcomes` says which of them hold.
    `plan_audit` tells what is asked, and its largest cost.
    """
    folder = None if out is None else as_path(out, "folder")
    with serving(engine, workers, ray):
        plan, conditions = checked_plan(player, games, decisions, seed, fail_if, against, probes)
        for line in warnings_of(plan):
            warnings.warn(line, stacklevel=3)
        with counted(plan.num_steps, shown=progress) as step:
            card = run_audit(plan, folder, progress=step)
    result = Audit(card, card.outcomes(conditions), folder)
    if folder is not None:
        result.save(folder / PAGE)
        result.save(folder / JUNIT)
    return result


@one_sentence
def compare_audits(before: str | Path, after: str | Path) -> Comparison:
    """Return the change of each figure between two audits, with limits, by their folders or cards."""
    first, second = (read_card(as_path(path, "audit")) for path in (before, after))
    return Comparison(first, second, tuple(changes(first, second)))


@dataclass(frozen=True, repr=False)
class Ranking(Plotted):
    """Agents by one figure of their audits, each with the ranks that its limits allow."""

    figure: str
    places: tuple[Place, ...]

    def rows(self) -> list[Json]:
        """Return one row for each agent, the best first."""
        return [place.to_json() for place in self.places]

    def to_json(self) -> Json:
        """Return the ranking, as `stratagem leaderboard --json` prints it."""
        return {"figure": self.figure, "places": self.rows()}

    def tables(self) -> list[Table]:
        rows = [
            (
                place.agent,
                f"{place.best} to {place.worst}" if place.best < place.worst else str(place.best),
                _shown(place.figure.value),
                ends(place.figure, number),
                str(place.figure.n or "–"),
            )
            for place in self.places
        ]
        unit = self.places[0].figure.unit
        columns = columns_of("agent", *map(Numbers, ("rank", "value", "limits", "n")))
        return [text_table(f"{self.figure}, {unit}", columns, rows)]

    def remarks(self) -> list[str]:
        """Explain a rank."""
        return ["A rank is an interval: the limits of the figures allow each rank in it."]

    def plot(self) -> Figure:
        """Draw the figure of every agent, with its limits."""
        drawn = {
            place.agent: Estimate(centre, low=place.figure.lower, high=place.figure.upper)
            for place in self.places
            if (centre := _centre(place.figure)) is not None
        }
        return bars(self.figure, self.places[0].figure.unit, {self.figure: drawn})


@one_sentence
def rank_audits(audits: Sequence[str | Path], figure: str = "kuhn.exploitability") -> Ranking:
    """Return the agents of several audits by one figure, with the ranks that their limits allow."""
    cards = [read_card(as_path(path, "audit")) for path in several(audits, "audit")]
    return Ranking(figure, tuple(leaderboard(cards, as_text(figure, "figure"))))
