"""Evaluations: `evaluate` measures players in a suite or a game, beside random play and with exact figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.api.arguments import as_folder, as_output, names_of
from stratagem.api.evaluation_legend import legend
from stratagem.api.mistakes import one_sentence
from stratagem.api.plans import PlayPlan
from stratagem.api.player_like import PlayerLike, as_player_or_name, players_of
from stratagem.api.progress import Step
from stratagem.api.result import PlayedResult
from stratagem.api.serving import serving
from stratagem.base.errors import WrongKind
from stratagem.base.files import finite
from stratagem.base.options import check_seed, whole
from stratagem.games.base import Json
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.engines.outcomes import counting_outcomes
from stratagem.measure import evaluate as evaluating
from stratagem.measure.comparisons import holm_p
from stratagem.measure.evaluate import CHANCE, EvaluationRow, GameResult, num_rows, set_episodes
from stratagem.measure.exploitability.methods import DEALS, check_effort, read_method
from stratagem.measure.matchups import Evaluator
from stratagem.measure.memorisation import Wrap, wraps
from stratagem.measure.metrics import METRICS
from stratagem.measure.metrics.memorisation import MemorisationGap
from stratagem.measure.recorded import RecordReading, figures_of_record
from stratagem.measure.report import evaluation_json, units_of_metrics, unscaled_payoffs
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.statistics import Estimate
from stratagem.measure.suites import Suite, find_suite, with_metrics
from stratagem.players.base import Player
from stratagem.players.catalogue import name_of_player
from stratagem.players.given import GameLike, allow_given
from stratagem.playing.records import Episode
from stratagem.show.evaluation_file import EvaluationFigures
from stratagem.show.evaluation_tables import evaluation_tables
from stratagem.show.table import ResultTable

_NONE = Estimate(float("nan"))

__all__ = ["Evaluation", "EvaluationPlan", "evaluate"]


class PlayerFigure(NamedTuple):
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
class Evaluation(PlayedResult):
    """Figures of players, game by game."""

    results: tuple[GameResult, ...]
    name: str
    """Suite or game."""
    seed: int
    episodes: int = 0
    """Number of episodes for each opponent; 0 for figures of a record."""
    broken_off: bool = False
    """True if not all episodes were played."""
    requested: tuple[str, ...] = ()
    """Further metrics that were requested, which the first screen has, too."""

    def figures(self) -> Iterator[PlayerFigure]:
        """Yield every figure of every player: metrics, then the figures in the unit of the game."""
        for result in self.results:
            units = units_of_metrics(result)
            for row in result.rows:
                for name, estimate in row.metrics.items():
                    yield PlayerFigure(result.text, row.player, name, estimate, units[name], row.nulls.get(name))
                for name, estimate in _unscaled_figures(result, row).items():
                    yield PlayerFigure(result.text, row.player, name, estimate, result.game.spec.unit)

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

    def legend(self, tables: Sequence[ResultTable]) -> list[str]:
        """Return a line for each figure, and what the marks mean."""
        return legend(self.results, tables, len(holm_p(self.results)))

    def tables(self) -> list[ResultTable]:
        stored = EvaluationFigures.model_validate(finite(self.to_json()))
        return evaluation_tables(stored, requested=self.requested, ms=self._milliseconds)

    @property
    def _milliseconds(self) -> dict[tuple[str, str], float]:
        return {
            (result.text, row.player): row.validity.ms for result in self.results for row in result.rows if row.validity
        }


def _unscaled_figures(result: GameResult, row: EvaluationRow) -> dict[str, Estimate | None]:
    """Return the figures in the unit of the game: payoff, and exploitability or its lower bound."""
    figures, (pay, _) = {}, unscaled_payoffs(result, row)
    figures["unscaled_payoff"] = pay
    return figures | row.exploitability.figures()


@dataclass(frozen=True)
class EvaluationPlan(PlayPlan[Evaluation]):
    """Evaluation that is checked and not played yet."""

    suite: Suite
    players: tuple[str | Player, ...]
    chance: bool
    """True to measure random play, too."""
    by_seat: bool
    """True for figures by seat, too."""
    requested: tuple[str, ...]
    """Additional metrics."""
    disguises: tuple[Wrap, ...]

    @property
    def total(self) -> int:
        """Number of rows, by which progress is counted."""
        return num_rows(self.suite, self.players, chance=self.chance)

    def run(self, step: Step) -> Evaluation:
        """Play the evaluation."""
        with counting_outcomes() as outcomes:
            results = evaluating.evaluate(
                self.suite,
                self.players,
                self.evaluator,
                chance=self.chance,
                seats=self.by_seat,
                disguises=self.disguises,
                progress=step,
            )
        return self._evaluation(results, outcomes=outcomes)

    def figures_so_far(self, episodes: Sequence[Episode]) -> Evaluation:
        """Return the figures of those episodes that are finished."""
        chance_last = CHANCE not in map(name_of_player, self.players)
        disguised = bool(self.disguises)
        reading = RecordReading(
            self.suite, seats=self.by_seat, seed=self.seed, chance_last=chance_last, disguised=disguised
        )
        return self._evaluation(figures_of_record(episodes, reading), broken_off=True)

    def _evaluation(self, results: Iterable[GameResult], **more: Any) -> Evaluation:
        name, number = self.suite.name, self.evaluator.episodes
        return Evaluation(tuple(results), name, self.seed, number, requested=self.requested, **more)


@one_sentence
def evaluate(
    suite: GameLike | Suite,
    players: PlayerLike | Sequence[PlayerLike],
    *,
    opponents: Sequence[PlayerLike] = (),
    episodes: int | None = None,
    metrics: str | Sequence[str] = (),
    by_seat: bool = False,
    disguise: str | int | None = None,
    exploitability: PlayerLike = "auto",
    effort: int | None = None,
    seed: int = 0,
    chance: bool = True,
    record: str | Path | None = None,
    resume: bool = False,
    out: str | Path | None = None,
    engine: str | None = None,
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = True,
) -> Evaluation:
    """Measure players: payoff, exploitability by a pool and exactly, safety, win rates.

    An exception that stops the play, such as an interrupt, has what is known as `so_far`: its `result()` has the
    figures of the finished episodes.

    Args:
        suite: Suite (sepo, gtbench, diplomacy) or game.
        players: Players to measure.
        opponents: Opponents, in place of those of the suite.
        episodes: Number of episodes for each opponent; by default that of the suite.
        metrics: Additional metrics.
        by_seat: True for figures by seat, too; where seats have names they are always there.
        disguise: Number of disguises, or a file: the same deals in other words, and the memorisation gap.
        exploitability: Method of exploitability: auto, exact, scored, replies, search, learn, or a player that
            exploits. auto is exact, or scored where a server tells probabilities; with an effort, else from replies.
            The gain of an exploiter is a lower bound; 'search(deals=20)' sets the number of deals, each played at every
            seat.
        effort: Effort of the method; by default its own. Exact and scored: situations that may be walked. Replies and
            auto: replies a situation. Search: simulations a decision. Learn: episodes at each seat. A player: deals.
        seed: Seed of all randomness.
        chance: True to measure random play, too, as the chance level.
        record: New folder for the episodes and decisions, as Parquet.
        resume: True to continue the record; recorded requests are not repeated.
        out: JSON file for the figures; a file of that name is replaced.
        engine: Engine of local language models, as in `transformers(rows=16)`: stratagem engines.
        workers: Number of processes that share the work; with `ray=`, of workers on the cluster.
        ray: Ray cluster for the work: its address, `auto`, or `local` for a new one here.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    _check_numbers(seed, episodes, disguise)
    check_effort("evaluate", exploitability, effort)
    file = as_output(out)
    with serving(engine, workers, ray):
        listed, against = players_of(players), players_of(opponents, least=0)
        further, how = tuple(names_of(metrics, "metric")), as_player_or_name(exploitability)
        method, deals = read_method(how) or (how, DEALS)
        allow_given(suite, None if read_method(how) else how, *listed, *against, *further)
        disguises = wraps(str(disguise)) if disguise is not None else []
        measured = [*further, *([MemorisationGap.name] if disguises else [])]
        chosen = with_metrics(find_suite(suite, tuple(against)), measured)
        requested = tuple(map(METRICS.present_name, further))
        number = set_episodes(Evaluator(), episodes, chosen).episodes
        # before the record is opened: the text of a player that is refused may hold a key
        evaluating.checked_games(chosen, listed, chance=chance, exploiter=method, disguises=disguises)
        noted: Json = {"command": "eval", "suite": _text(suite), "players": [*map(name_of_player, listed)]}
        noted |= {"opponents": [*map(name_of_player, against)], "chance": chance}
        noted |= {"disguise": str(disguise)} if disguise else {}  # without one, as in earlier records
        noted |= {"policy_replies": effort} if effort and method in ("auto", "replies") else {}  # the same
        kept = ResumableRecord(as_folder(record), noted | {"episodes": number, "seed": seed}, resume=resume)
        asking = Evaluator(number, Key(seed), record=kept, exploitability=method, effort=effort, deals=deals)
        plan = EvaluationPlan(asking, kept, seed, chosen, tuple(listed), chance, by_seat, requested, tuple(disguises))
        found = plan.play(shown=progress)
    if file is not None:
        found.save(file)
    return found


def _check_numbers(seed: int, episodes: int | None, disguise: str | int | None) -> None:
    """Refuse a number that is none, or out of range."""
    check_seed(seed)
    if episodes is not None:
        whole("evaluate", "episodes", episodes, 1)
    if disguise is not None and type(disguise) not in (int, str):
        raise WrongKind("disguise", "a number of disguises, or a file", disguise)


def _text(suite: GameLike | Suite) -> str:
    if isinstance(suite, Suite):
        return suite.name
    return suite if isinstance(suite, str) else describe(suite)
