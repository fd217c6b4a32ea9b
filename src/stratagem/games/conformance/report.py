"""Report of a verification: one `RuleCheck` a rule, and for a broken rule the transcript that shows it."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, NamedTuple

from stratagem.games.base import Game, Json, Seat, State
from stratagem.games.key import Key

Actions = Mapping[Seat, str | None]
Outcome = Literal["passed", "failed", "skipped"]
_LONGEST_DETAIL = 600


class PlayedPath(NamedTuple):
    """Path to a position: the key of the table and the actions played."""

    key: Key
    actions: tuple[Actions, ...] = ()

    def then(self, actions: Actions) -> PlayedPath:
        """Return the transcript with one more move."""
        return PlayedPath(self.key, (*self.actions, dict(actions)))

    def replay(self, game: Game[Any]) -> State[Any]:
        """Return the position itself."""
        state = game.start(self.key)
        for actions in self.actions:
            state.play(actions)
        return state

    def __str__(self) -> str:
        moves = " / ".join(", ".join(f"{seat}: {action!r}" for seat, action in move.items()) for move in self.actions)
        return f"{self.key!r} after {moves or 'no move'}"

    def to_json(self) -> Json:
        """Return the key as a number, and each move's actions by seat."""
        moves = [{str(seat): action for seat, action in move.items()} for move in self.actions]
        return {"key": self.key.value, "actions": moves}


class BrokenRule(Exception):
    """A broken rule and the transcripts that show it: one, or two that ought to agree."""

    def __init__(self, message: str, *transcripts: PlayedPath) -> None:
        super().__init__(message)
        self.transcripts = transcripts

    @property
    def size(self) -> int:
        """The number of moves of the transcripts."""
        return sum(len(transcript.actions) for transcript in self.transcripts)


class Endless(BrokenRule):
    """An episode without an end; one is enough."""


class RefusedAction(BrokenRule):
    """A refused legal action; the check of legal actions says more about it."""


class NotApplicable(Exception):
    """Reason why a rule does not apply to this game."""


@dataclass(frozen=True)
class RuleCheck:
    """Result of one rule."""

    name: str
    outcome: Outcome
    detail: str
    transcripts: tuple[PlayedPath, ...] = ()
    """Shortest transcripts of a failed check."""

    def __str__(self) -> str:
        lines = [f"{self.outcome:<8}{self.name}: {self.detail}"]
        lines += [f"{'':8}{'at' if number == 0 else 'and'} {it}" for number, it in enumerate(self.transcripts)]
        return "\n".join(lines)


@dataclass(frozen=True)
class ConformanceReport:
    """Every check of one game."""

    game: str
    checks: tuple[RuleCheck, ...]

    @property
    def ok(self) -> bool:
        """True if nothing failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the failed checks."""
        return tuple(check.name for check in self.checks if check.outcome == "failed")

    def __getitem__(self, name: str) -> RuleCheck:
        return next(check for check in self.checks if check.name == name)

    def __str__(self) -> str:
        verdict = "conforms" if self.ok else f"breaks {', '.join(self.failed)}"
        return "\n".join([f"{self.game} {verdict}", *map(str, self.checks)])

    def to_json(self) -> Json:
        """Return the report as plain data."""
        checks = [
            {
                "name": check.name,
                "outcome": check.outcome,
                "detail": check.detail,
                "transcripts": [transcript.to_json() for transcript in check.transcripts],
            }
            for check in self.checks
        ]
        return {"game": self.game, "ok": self.ok, "checks": checks}


def shorten_detail(text: str) -> str:
    """Shorten a detail to fit into a report."""
    return text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + "…"


def describe_error(error: Exception, game: Game[Any]) -> str:
    """Describe an error of the rules under test, with the line of their file that it passed."""
    methods = [method for cls in (type(game), getattr(game, "state", object)) for method in vars(cls).values()]
    files = {method.__code__.co_filename for method in methods if isinstance(method, FunctionType)}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    place = f" in line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""
    return f"raised {type(error).__name__}{place}: {error}"
