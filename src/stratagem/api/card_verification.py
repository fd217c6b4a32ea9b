"""Verification of cards and runs: `verify_figures` checks digests, and recomputes figures from records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import bar
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.manifest import DIGESTS, faults_of_digests
from stratagem.base.options import check_seed, whole
from stratagem.games.base import Json
from stratagem.measure.audit.asked_again import AskedAgain, ask_again
from stratagem.measure.audit.card import VERSION
from stratagem.measure.audit.probes.draws import check_known_games
from stratagem.measure.audit.seed_origin import check_identity
from stratagem.show.table import ResultTable, text_table
from stratagem.verifier.audit_plan import PLAN, read_object
from stratagem.verifier.card_check import CARD, DAMAGE, CardCheck, card_checks
from stratagem.verifier.figure_check import FigureCheck
from stratagem.verifier.run_check import RUN, run_checks

__all__ = ["FigureVerification", "verify_figures"]

_MOST = 5
"""Number of faults that the first line names."""
_FIT = "This shows that figures and record fit together"
_VOUCHES = "a signature of the manifest says who vouches for it."
_SHOWN_BY_CARD = f"{_FIT}, and not that the agent gave these replies: `--ask 50` asks it again, and {_VOUCHES}"
_SHOWN_BY_RUN = f"{_FIT}, and not that the training played these games: {_VOUCHES}"


@dataclass(frozen=True, repr=False)
class FigureVerification(Result):
    """Checks of a card or a run; false as a condition where one failed. It has no figures of its own."""

    folder: Path
    what: str
    """Subject of the checks in words: the card of an agent, or a run."""
    faults: tuple[str, ...]
    """A sentence for each file that is missing or changed."""
    checks: tuple[FigureCheck, ...]
    asked: AskedAgain | None = None
    """Decisions that the agent was asked for again; None without `ask`."""

    @property
    def differing(self) -> list[FigureCheck]:
        """Figures and parts that do not agree with the record."""
        return [check for check in self.checks if check.agreement == "differs"]

    @property
    def ok(self) -> bool:
        """True if no file has changed and nothing differs."""
        return not self.faults and not self.differing and (self.asked is None or self.asked.ok)

    @property
    def exit_status(self) -> int:
        """1 if a file is missing or changed, or a figure differs."""
        return 0 if self.ok else 1

    def __bool__(self) -> bool:
        return self.ok

    def rows(self) -> list[Json]:
        """Return one row for each figure and each part of the record."""
        return [check._asdict() for check in self.checks]

    def to_json(self) -> Json:
        """Return the checks, as `stratagem verify --json` prints them."""
        return {
            "folder": str(self.folder),
            "ok": self.ok,
            "verdict": self.first_lines()[0],
            "files": [*self.faults],
            "figures": self.rows(),
            "asked_again": self.asked and self.asked.to_json(),
        }

    def first_lines(self) -> list[str]:
        """Return the verdict in one sentence."""
        agreed, left = (
            sum(check.agreement == outcome for check in self.checks) for outcome in ("agrees", "not recomputed")
        )
        if self.ok:
            return [
                f"{self.what} agrees with its record: {agreed} figures and parts are recomputed, {left} are not, and "
                f"every file is as {DIGESTS} says."
            ]
        wrong = [*self.faults, *(f"{check.name} differs" for check in self.differing)]
        if self.asked is not None and not self.asked.ok:
            wrong.append("the agent answers otherwise than it is recorded")
        named = "; ".join(text.removesuffix(".") for text in wrong[:_MOST])
        more = f"; and {len(wrong) - _MOST} more" if len(wrong) > _MOST else ""
        only_files = not self.differing and (self.asked is None or self.asked.ok)
        fails = "fails the check of its files" if only_files else "does not agree with its record"
        return [f"{self.what} {fails}: {named}{more}."]

    def tables(self) -> list[ResultTable]:
        rows = [
            (check.name, _cell(check.card), _cell(check.recomputed), check.agreement, check.detail)
            for check in self.checks
        ]
        return [text_table(str(self.folder), ("figure", "stored", "recomputed", "", "why"), rows)]

    def remarks(self) -> list[str]:
        """Name the files that changed, the outcome of asking again, and what agreement does not show."""
        again = [] if self.asked is None else [self.asked.sentence()]
        is_run = (self.folder / RUN).is_file()
        return [*self.faults, *again, *([_SHOWN_BY_RUN if is_run else _SHOWN_BY_CARD] if self.ok else [])]


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


@one_sentence
def verify_figures(path: str | Path, *, ask: int = 0, seed: int = 0, progress: bool = True) -> FigureVerification:
    """Check the card of an audit, or a run: digests of files, and every figure that follows from the record.

    Figures are recomputed by other code than that of the audit. What is not recomputed is named with its reason.

    Args:
        path: Folder of an audit, its card, or a run.
        ask: Number of recorded decisions that the agent is asked for again.
        seed: Seed of all randomness.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    check_seed(seed)
    whole("verify", "ask", ask, 0)
    given = as_path(path, "audit or run")
    folder = given.parent if given.name == CARD else given
    is_run = (folder / RUN).is_file()
    if not is_run and not (folder / CARD).is_file() and not (folder / PLAN).is_file():
        raise BadParameter(f"There is no card of an audit and no run in {folder}.")
    if not is_run and not any((folder / name).is_file() for name in (CARD, DIGESTS)):
        raise BadRecord(f"The audit in {folder} is not finished: the command that began it goes on with it.")
    if is_run and ask:
        raise BadParameter(f"{folder} is a run, which an audit asks again: `ask` is for cards.")
    if not is_run:
        _check_version(folder)
    with bar("", shown=progress) as show:
        show(0, 0, "digests")
        faults = tuple(faults_of_digests(folder))
        checks = list[FigureCheck]()
        for check in run_checks(folder) if is_run else card_checks(folder):
            checks.append(check)
            show(len(checks), 0, check.name)
        if not is_run:
            checks += _check_agent(folder)
        asked = ask_again(folder, ask, seed) if ask else None
    what = f"The run {folder.resolve().name}" if is_run else f"The card of {_agent(folder)}"
    return FigureVerification(folder, what, faults, tuple(checks), asked)


def _check_version(folder: Path) -> None:
    """Refuse a card of an earlier version, which lacks what a check needs."""
    try:
        version = read_object(folder / CARD).get("card")
    except BadRecord:
        return  # a damaged card is named by the checks
    if version != VERSION:
        said = f"{version!r}"[:20]
        raise BadRecord(f"{folder / CARD} is a card of version {said}, and cards of version {VERSION} are verified.")


def _check_agent(folder: Path) -> list[FigureCheck]:
    """Check the digest of an agent to which a nonce binds drawn games, and that no known game was left out."""
    try:
        card, plan = read_object(folder / CARD), read_object(folder / PLAN)
        agent, draws = str(plan["player"]), card.get("draws") or {}
        found = [check_known_games(agent, card) if draws else None]
        found += [check_identity(agent, card) if draws.get("nonce") else None]
    except (BadRecord, *DAMAGE):
        return []  # a damaged card is named by the checks
    return [check for check in found if check is not None]


def _agent(folder: Path) -> str:
    try:
        return str(CardCheck(folder).card.get("agent", "an agent"))
    except BadRecord:
        return f"the audit in {folder}"
