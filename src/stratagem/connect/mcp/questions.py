"""Agent that comes to be asked, and its questions with the tables at which they stand."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.connect.outside import Outside
from stratagem.games.base import Json, View
from stratagem.language.engines.base import Request
from stratagem.players.agents import ask_question
from stratagem.players.base import Ask, Mix, Traits, Turn
from stratagem.players.members import PlayerBase


@dataclass(frozen=True, eq=False)
class VisitingAgent(PlayerBase):
    """Agent that comes to be asked: its questions wait until it answers them."""

    engine: Outside

    traits: ClassVar[Traits] = Traits(
        stochastic=True, memory=None, reads_words=True, exact=False, repeats=False, remembers=True
    )

    @property
    def name(self) -> str:
        return self.engine.name

    def turn(self, ask: Ask) -> Turn:
        return ask_question(self.engine, ask)

    def policy(self, view: View[Any]) -> Mix:
        raise CannotCompute(f"{self.name} does not state its probabilities, so only play can measure it.")


@dataclass(eq=False)
class OpenQuestion:
    """Question of the audit that waits for its answer."""

    ticket: int
    request: Request
    data: Json
    number: str = field(default_factory=lambda: secrets.token_hex(4))
    """Name by which an answer says what it answers."""
    told_at: float | None = None
    """Time at which the agent was told it; None before."""


@dataclass(eq=False)
class AskedTable:
    """Seat of the agent in one episode of the audit."""

    rules: str
    question: OpenQuestion | None = None
    """Open question; None where the table waits, perhaps for ever."""
    closed: dict[str, str] = field(default_factory=dict)
    """Ends of earlier questions, by their numbers."""

    @property
    def is_idle(self) -> bool:
        """True if nothing is asked here now."""
        return self.question is None

    def find(self, number: str) -> OpenQuestion:
        """Return the open question, whose number an answer must name."""
        if self.question is not None and self.question.number == number:
            return self.question
        now = "nothing" if self.question is None else f"question {self.question.number}"
        if number in self.closed:
            raise BadParameter(f"Question {number} is closed: {self.closed[number]}; the table asks {now} now.")
        raise BadParameter(f"This table did not ask the question that you answer: it asks {now} now.")
