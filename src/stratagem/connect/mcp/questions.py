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
class AskedTable:
    """Question of the audit with its answer; each has a table of its own.

    Episodes of one deal against two opponents have one name, so no table can be told to go on with one of them.
    """

    ticket: int
    request: Request
    data: Json
    number: str = field(default_factory=lambda: secrets.token_hex(4))
    """Name by which an answer says what it answers."""
    handle: str = ""
    told_at: float | None = None
    """Time at which the agent was told the question; None before."""
    closed: str = ""
    """End of the question, in words; empty while it waits for an answer."""

    @property
    def is_idle(self) -> bool:
        """True if nothing is asked here any more."""
        return bool(self.closed)

    @property
    def rules(self) -> str:
        """Rules of the game that is asked about."""
        return str(self.data["rules"])

    def check(self, number: str) -> None:
        """Refuse an answer to another question, or to one that is closed."""
        if number != self.number:
            now = "nothing" if self.closed else f"question {self.number}"
            raise BadParameter(f"This table did not ask the question that you answer: it asks {now} now.")
        if self.closed:
            raise BadParameter(f"Question {number} is closed: {self.closed}.")
