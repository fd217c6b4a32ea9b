"""Evaluations: `evaluate` measures players in a suite or a game, beside random play and with exact figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from stratagem.api.arguments import as_folder, names_of
from stratagem.api.evaluation_legend import legend
from stratagem.api.mistakes import one_sentence
from stratagem.api.pictures import bars
from stratagem.api.plans import Plan, carry_out
from stratagem.api.play_settings import EvaluationSettings
from stratagem.api.player_like import as_player_or_name, players_of
from stratagem.api.progress import Step
from stratagem.api.result import Plotted, remarks_on
from stratagem.api.settings import takes_settings
from stratagem.engines.outcomes import OutcomesByModel, counting_outcomes
from stratagem.errors import UnknownName
from stratagem.evaluation import evaluate as evaluating
from stratagem.evaluation.comparisons import holm_p
from stratagem.evaluation.evaluate import CHANCE, GameResult, Row, num_rows, shortened
from stratagem.evaluation.exploitability.methods import DEALS, read_method
from stratagem.evaluation.matchups import Evaluator
from stratagem.evaluation.memorisation import Wrap, wraps
from stratagem.evaluation.metrics.memorisation import MemorisationGap
from stratagem.evaluation.recorded import Reading, recorded
from stratagem.evaluation.report import evaluation_json, units_of_metrics, unscaled
from stratagem.evaluation.resumable import ResumableRecord
from stratagem.evaluation.statistics import Estimate
from stratagem.evaluation.suites import Suite, find_suite, with_metrics
from stratagem.files import finite
from stratagem.games.base import Json
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.play.records import Episode
from stratagem.players.base import Player
from stratagem.players.catalogue import named
from stratagem.players.given import GameLike, allow_given
from stratagem.show.evaluation_file import EvaluationFigures
from stratagem.show.evaluation_tables import evaluation_tables
from stratagem.show.table import Table

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_NONE = Estimate(float("nan"))

__all__ = ["Evaluation", "EvaluationPlan", "EvaluationSettings", "evaluate", "plan_evaluation"]


class Figured(NamedTuple):
    """One figure of one player in one game."""

    game: str
    player: str
    name: str
    estimate: Estimate | None
    """None where the figure is not defined."""
    unit: str
    null: float | None = None
    """Figure under the null hypothesis."""


@dataclass(frozen=True, repr=False)
class Evaluation(Plotted):
    """Figures of players, game by game."""

    results: tuple[GameResult, ...]
    name: str
    """Suite or game."""
    seed: int
    episodes: int = 0
    """Number of episodes for each opponent; 0 for figures of a record."""
    broken_off: bool = False
    """True if not all episodes were played."""
    outcomes: OutcomesByModel = field(default_factory=OutcomesByModel)
    """Requests behind the figures by model: their number, and how many had no reply, were refused or filtered."""
    requested: tuple[str, ...] = ()
    """Further metrics that were requested, which the first screen has, too."""

    def figures(self) -> Iterator[Figured]:
        """Yield every figure of every player: metrics, then the figures in the unit of the game."""
        for result in self.results:
            units = units_of_metrics(result)
            for row in result.rows:
                for name, estimate in row.metrics.items():
                    yield Figured(result.text, row.player, name, estimate, units[name], row.nulls.get(name))
                for name, estimate in _unscaled(result, row).items():
                    yield Figured(result.text, row.player, name, estimate, result.game.spec.unit)

    def rows(self) -> list[Json]:
        """Return one row for each figure of each player; `null` is the figure under the null hypothesis."""
        return [
            {
                "game": one.game,
                "player": one.player,
                "figure": one.name,
                "unit": one.unit,
                **(one.estimate or _NONE).to_json(),
                "null": one.null,
            }
            for one in self.figures()
        ]

    def to_json(self) -> Json:
        """Return the whole evaluation, as `stratagem eval --json` prints it."""
        data = evaluation_json(list(self.results), self.name, self.seed, self.episodes)
        return data | {"broken_off": self.broken_off, "requests": self.outcomes.to_json()}

    def legend(self, tables: Sequence[Table]) -> list[str]:
        """Return a line for each figure, and what the marks mean."""
        return legend(self.results, tables, len(holm_p(self.results)))

    def remarks(self) -> list[str]:
        """Return the shares of requests that had no reply, were refused or filtered."""
        return remarks_on(self.outcomes)

    def tables(self) -> list[Table]:
        stored = EvaluationFigures.model_validate(finite(self.to_json()))
        return evaluation_tables(stored, requested=self.requested, ms=self._milliseconds)

    @property
    def _milliseconds(self) -> dict[tuple[str, str], float]:
        return {
            (result.text, row.player): row.validity.ms for result in self.results for row in result.rows if row.validity
        }

    @one_sentence
    def plot(self, figure: str = "") -> Figure:
        """Draw one figure of all players; by default the exact exploitability, or the payoff where there is none."""
        known = [one for one in self.figures() if one.estimate is not None]
        names = {one.name for one in known}
        wanted = figure or next((name for name in ("exploitability", "pay") if name in names), "")
        if wanted not in names:
            raise UnknownName("figure in this evaluation", wanted, names)
        drawn: dict[str, dict[str, Estimate]] = {}
        units = dict.fromkeys(one.unit for one in known if one.name == wanted)
        for one in known:
            if one.name == wanted and one.estimate is not None:
                drawn.setdefault(one.game, {})[one.player] = one.estimate
        return bars(f"{self.name}: {wanted}", ", ".join(units), drawn)


def _unscaled(result: GameResult, row: Row) -> dict[str, Estimate | None]:
    """Return the figures in the unit of the game: payoff, and exploitability or its lower bound."""
    figures, (pay, _) = {}, unscaled(result, row)
    figures["unscaled_pay"] = pay
    return figures | row.exploitability.figures()


@dataclass(frozen=True)
class EvaluationPlan(Plan[EvaluationSettings, Evaluation, Evaluation]):
    """Evaluation that is checked and not played yet."""

    suite: Suite
    players: tuple[str | Player, ...]
    disguises: tuple[Wrap, ...]

    @property
    def total(self) -> int:
        """Number of rows, by which progress is counted."""
        return num_rows(self.suite, self.players, chance=self.settings.chance)

    def run(self, step: Step) -> Evaluation:
        """Play the evaluation."""
        at = self.settings
        with counting_outcomes() as outcomes:
            results = evaluating.evaluate(
                self.suite,
                self.players,
                self.evaluator,
                chance=at.chance,
                seats=at.by_seat,
                disguises=self.disguises,
                progress=step,
            )
        return Evaluation(
            tuple(results),
            self.suite.name,
            at.seed,
            self.evaluator.episodes,
            outcomes=outcomes,
            requested=tuple(names_of(at.metrics, "metric")),
        )

    def so_far(self, episodes: Iterable[Episode]) -> Evaluation:
        """Return the figures of those episodes that are finished."""
        at = self.settings
        requested = CHANCE in map(named, self.players)
        reading = Reading(
            self.suite, seats=at.by_seat, seed=at.seed, chance_last=not requested, disguised=bool(self.disguises)
        )
        results = recorded(episodes, reading)
        further, number = tuple(names_of(at.metrics, "metric")), self.evaluator.episodes
        return Evaluation(tuple(results), self.suite.name, at.seed, number, broken_off=True, requested=further)


def plan_evaluation(settings: EvaluationSettings) -> EvaluationPlan:
    """Plan an evaluation, and open its record."""
    at = settings
    listed, against = players_of(at.players), players_of(at.opponents, least=0)
    metrics, method = names_of(at.metrics, "metric"), as_player_or_name(at.exploitability)
    name, deals = read_method(method) or (method, DEALS)
    allow_given(at.suite, None if read_method(method) else method, *listed, *against, *metrics)
    disguises = wraps(str(at.disguise)) if at.disguise is not None else []
    further = [*metrics, *([MemorisationGap.name] if disguises else [])]
    chosen = with_metrics(find_suite(at.suite, tuple(against)), further)
    number = shortened(Evaluator(), at.episodes, chosen).episodes
    # before the record is opened: the text of a player that is refused may hold a key
    evaluating.checked_games(chosen, listed, chance=at.chance, exploiter=name, disguises=disguises)
    plan: dict[str, Any] = {"command": "eval", "suite": _text(at.suite), "players": [*map(named, listed)]}
    plan |= {"opponents": [*map(named, against)], "chance": at.chance}
    plan |= {"disguise": str(at.disguise)} if at.disguise else {}  # without one, as in earlier records
    plan |= {"policy_replies": at.effort} if at.effort and name in ("auto", "replies") else {}  # as in earlier records
    kept = ResumableRecord(as_folder(at.record), plan | {"episodes": number, "seed": at.seed}, resume=at.resume)
    evaluator = Evaluator(number, Key(at.seed), record=kept, exploitability=name, effort=at.effort, deals=deals)
    return EvaluationPlan(at, evaluator, kept, chosen, tuple(listed), tuple(disguises))


def _text(suite: GameLike | Suite) -> str:
    if isinstance(suite, Suite):
        return suite.name
    return suite if isinstance(suite, str) else describe(suite)


@takes_settings(EvaluationSettings)
def evaluate(settings: EvaluationSettings) -> Evaluation:
    """Measure players: payoff, exploitability by a pool and exactly, safety, win rates."""
    return carry_out(plan_evaluation, settings)
