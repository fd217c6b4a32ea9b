"""Audits: `audit` asks an agent in several games, and returns its card; `rank_audits` ranks agents by their cards."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from stratagem.api.arguments import as_output, as_path, as_text, several
from stratagem.api.audit_plans import checked_plan
from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike
from stratagem.api.progress import bar
from stratagem.api.result import PlottedResult, remarks_on
from stratagem.api.serving import serving
from stratagem.api.stopped import going_on
from stratagem.base.files import write_file
from stratagem.base.renamed.metrics import present_figure
from stratagem.games.base import Json
from stratagem.language.engines.outcomes import outcomes_of
from stratagem.measure.audit.card import Card
from stratagem.measure.audit.condition import Condition, Outcome
from stratagem.measure.audit.junit import junit
from stratagem.measure.audit.leaderboard import LeaderboardPlace, exploitabilities, leaderboard
from stratagem.measure.audit.measurement import Measurement
from stratagem.measure.audit.pace import warnings_of
from stratagem.measure.audit.plan import DECISIONS, GAMES, AuditPlan
from stratagem.measure.audit.probes.base import StrategyLine
from stratagem.measure.audit.run import run_audit
from stratagem.players.given import GameLike
from stratagem.playing.dispatch import Dispatcher, RequestQueue
from stratagem.show.audit.board import write_board
from stratagem.show.audit.board_files import AuditSource, find_audit
from stratagem.show.audit.card_tables import drawn_tables, group_tables, ranks_table
from stratagem.show.audit.exploiter_file import describe_exploiters, write_exploiters
from stratagem.show.audit.page import card_page
from stratagem.show.audit.words import describe_outcome, replay, summarise, verdict
from stratagem.show.markdown import escape_text
from stratagem.show.table import ResultTable

PAGE, JUNIT, SUMMARY = "card.html", "junit.xml", "card.md"
"""Further forms of the card in the folder of an audit."""
HOLDS, INCONCLUSIVE = 1, 3
"""Exit status where a condition holds, and where one could not be judged."""
_LINES = 12
"""Number of moves of an exploiting strategy that are printed."""

__all__ = ["Audit", "Ranking", "audit", "rank_audits"]


@dataclass(frozen=True, repr=False)
class Audit(PlottedResult):
    """Card of an agent, with the outcomes of conditions."""

    _marks: ClassVar[bool] = False

    card: Card
    """Figures, strategies that exploit the agent, and the cost, as they are saved."""
    outcomes: dict[str, Outcome]
    """Outcome of each condition by its text."""
    folder: Path | None = None
    """Folder of the audit; None where it was not written."""
    exploiter: Path | None = None
    """File of the rules that exploit the agent; None where none were asked for, or found."""

    @property
    def files(self) -> list[Path]:
        """The page of the card and the program of the rules, where they were written."""
        page = [] if self.folder is None else [self.folder / PAGE]
        return page if self.exploiter is None else [*page, self.exploiter]

    @property
    def exit_status(self) -> int:
        """1 if a condition holds, 3 if one could not be judged."""
        return status_of(self.outcomes.values())

    @property
    def alarms(self) -> list[Measurement]:
        """Figures whose null hypothesis is rejected."""
        return self.card.alarms

    def rows(self) -> list[Json]:
        """Return one row for each figure."""
        return [figure.to_json() for figure in self.card.figures]

    def to_json(self) -> Json:
        """Return the card, as `stratagem audit --json` prints it."""
        return {**self.card.to_json(), "conditions": dict(self.outcomes)}

    def first_lines(self) -> list[str]:
        """Return what an opponent gains who knows the strategy, game by game."""
        return summarise(self.card)

    def short_lines(self, most: int) -> list[str]:
        """Return the card in at most `most` lines: the conditions that failed it, the gain, how, and the page."""
        failed = [text for text, outcome in self.outcomes.items() if outcome != "does not hold"]
        top = [f"{text}: {describe_outcome(self.card, text, self.outcomes[text])}" for text in failed]
        pages = [f"The card: {path}" for path in self.files]
        above = [*top, *self.first_lines()][: most - len(pages)]
        left = most - len(above) - len(pages)
        for game, moves in self.card.strategies.items():
            most = left - 1 if len(moves) < left else left - 2  # beside the title, and the number of further moves
            lines = _strategy(game, moves, most) if left > 2 else []
            above, left = [*above, *lines], left - len(lines)
        return [*above, *pages]

    def tables(self) -> list[ResultTable]:
        return [*(table for _, table in group_tables(self.card)), *drawn_tables(self.card)]

    def remarks(self) -> list[str]:
        """Return the verdict with its replays, exploiting strategies, what was not measured, and the conditions."""
        return [
            *verdict(self.card),
            *(f"{name}: {command}" for name, command in self.replays.items()),
            *(line for game, moves in self.card.strategies.items() for line in _strategy(game, moves)),
            *describe_exploiters(self.card),
            *(f"{name}: not measured. {reason}" for name, reason in self._not_measured.items()),
            *(f"{text}: {describe_outcome(self.card, text, outcome)}" for text, outcome in self.outcomes.items()),
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

    def markdown(self) -> str:
        """Return the card as Markdown, such as the summary of a job: the conditions stand first."""
        title = f"### Audit of {escape_text(self.card.agent)}"
        found = [f"- {escape_text(text)}: **{outcome}**" for text, outcome in self.outcomes.items()]
        return "\n\n".join([title, *(["\n".join(found)] if found else []), super().markdown()])

    def forms(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writers of the page, `.html`, and of JUnit's form, `.xml`."""
        return {
            ".html": lambda path: write_file(path, card_page(self.card, self.outcomes)),
            ".xml": lambda path: write_file(path, junit(self.card, self.outcomes)),
        }


def _strategy(game: str, moves: Sequence[StrategyLine], most: int = _LINES) -> list[str]:
    """Return a strategy that exploits the agent in words, its first moves where it is long."""
    told = [f"  seat {move.seat}: {move.situation} {move.action}" for move in moves[:most]]
    more = [f"  and {len(moves) - most} more moves, in the card"] if len(moves) > most else []
    return [f"To exploit it in {game}:", *told, *more]


def status_of(outcomes: Iterable[Outcome]) -> int:
    """Return the exit status of conditions: 1 if one holds, 3 if one could not be judged."""
    found = set(outcomes)
    return HOLDS if "holds" in found else INCONCLUSIVE if "inconclusive" in found else 0


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
    write_exploiter: str | Path | None = None,
    nonce: str | Path | None = None,
    arena: bool = False,
    engine: str | None = None,
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = True,
) -> Audit:
    """Audit an agent: exploitability with limits, safety, competence, consistency and cost.

    All is measured from the replies of the agent alone. The outcomes of the result say which conditions hold. The same
    call goes on with a stopped audit in its folder, and asks nothing twice.

    Args:
        player: Agent: a player, a run, api:MODEL@URL, cmd:PROGRAM, http:URL.
        games: Games of the audit; draws(cards, 20) are games that nobody has seen.
        against: Baseline that is asked the same with the same keys; the card has the differences from it.
        decisions: Largest number of decisions that each agent is asked for, shared by the games.
        seed: Seed of all randomness.
        out: Folder for the card, its page and the records; a stopped audit there goes on.
        fail_if: Conditions that fail the audit: 'kuhn.exploitability.lower > 0.1'.
        probes: Further probes, such as own.py:Own, with decisions of their own.
        write_exploiter: Python file for at most 20 rules that beat the agent: a player, FILE.py:Exploiter.
        nonce: File of the nonce that decides the seed of drawn games, committed before the agent was named.
        arena: True to ask a language model as public arenas do: no list of moves, one retry, then the game is lost.
        engine: Engine of local language models, as in `transformers(rows=16)`: stratagem engines.
        workers: Number of processes that share the work; with `ray=`, of workers on the cluster.
        ray: Ray cluster for the work: its address, `auto`, or `local` for a new one here.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    folder = None if out is None else as_path(out, "folder")
    program = None if write_exploiter is None else as_path(write_exploiter, "file")
    with serving(engine, workers, ray):
        plan, conditions = checked_plan(
            player, games, decisions, seed, fail_if, against, probes, program, nonce, arena=arena
        )
        for line in warnings_of(plan):
            warnings.warn(line, stacklevel=3)
        return carry_out_audit(plan, conditions, folder, program, progress=progress)


def carry_out_audit(
    plan: AuditPlan,
    conditions: Sequence[Condition],
    folder: Path | None,
    program: Path | None = None,
    *,
    queue: Callable[[], RequestQueue] = Dispatcher,
    progress: bool,
) -> Audit:
    """Ask the agent of a checked plan, and write its card to the folder and its exploiter to the program, if wanted."""
    with going_on(how_to_go_on(folder)), bar("", shown=progress) as show:
        card = run_audit(plan, folder, queue=queue, progress=show)
    written = program is not None and write_exploiters(card, program)
    result = Audit(card, card.outcomes(conditions), folder, program if written else None)
    if folder is not None:
        for name in (PAGE, JUNIT, SUMMARY):
            result.save(folder / name)
    return result


def how_to_go_on(folder: Path | None) -> str:
    """Return the sentence that says how a stopped audit goes on."""
    if folder is None:
        return "Nothing was kept: with `out='FOLDER'` it can continue after an interruption."
    return f"The same call goes on with the audit in {folder}."


@dataclass(frozen=True, repr=False)
class Ranking(PlottedResult):
    """Agents by figures of their audits, each with the ranks that its limits allow."""

    _marks: ClassVar[bool] = False

    places: tuple[LeaderboardPlace, ...]
    """Places of all figures, those of the first figure first."""
    audits: tuple[AuditSource, ...]
    html: Path | None = None
    """Page of the board; None where it was not written."""

    @property
    def figures(self) -> list[str]:
        """Names of the figures."""
        return list(dict.fromkeys(place.figure.name for place in self.places))

    @property
    def files(self) -> list[Path]:
        """The page of the board, where it was written."""
        return [] if self.html is None else [self.html]

    def rows(self) -> list[Json]:
        """Return one row for each agent and figure, the best first."""
        return [place.to_json() for place in self.places]

    def to_json(self) -> Json:
        """Return the ranking, as `stratagem leaderboard --json` prints it."""
        return {"figures": self.figures, "places": self.rows()}

    def tables(self) -> list[ResultTable]:
        return [
            ranks_table(name, [place for place in self.places if place.figure.name == name]) for name in self.figures
        ]

    def remarks(self) -> list[str]:
        """Explain a rank."""
        return ["A rank is an interval: the limits of the figures allow each rank in it."]

    def forms(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writer of the page, which puts cards and records into a folder beside it."""
        return {".html": lambda path: write_board(path, self.places, self.audits)}


@one_sentence
def rank_audits(audits: Sequence[str | Path], figure: str = "", html: str | Path | None = None) -> Ranking:
    """Rank the agents of several audits by one figure, each with the ranks that its limits allow.

    Args:
        audits: Folders of audits, or their cards.
        figure: Figure by which agents are ranked; by default the exploitability in each of the games.
        html: File for a page of the board; a folder beside it gets copies of the cards and records, for publication.
    """
    page = as_output(html)
    found = [find_audit(as_path(path, "audit")) for path in several(audits, "audit")]
    cards = [one.card for one in found]
    names = [present_figure(as_text(figure, "figure"))] if figure else exploitabilities(cards)
    ranking = Ranking(tuple(place for name in names for place in leaderboard(cards, name)), tuple(found), page)
    if page is not None:
        write_board(page, ranking.places, ranking.audits)
    return ranking
