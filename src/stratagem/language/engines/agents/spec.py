"""Agent outside of this program by its form: a command, an address, or a function."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Literal

from stratagem.base.errors import BadParameter
from stratagem.language.engines.agents.function import Function

Transport = Literal["cmd", "http", "function"]


@dataclass(frozen=True)
class AgentSpec:
    """Agent and the way to ask it."""

    transport: Transport
    where: str
    """Command, address, or name of the function."""
    function: Function | None = field(default=None, hash=False)
    timeout: float = 0.0
    """Seconds for an answer; 0 takes those of the command."""
    concurrent: int = 0
    """Largest number of open questions; 0 takes what the agent declares, and for a function 1."""
    env: tuple[str, ...] = ()
    """Names of environment variables that its process gets."""

    @property
    def text(self) -> str:
        """Name of the agent in records and messages."""
        return self.where if self.transport == "function" else f"{self.transport}:{self.where}"

    def arguments(self) -> tuple[str, ...]:
        """Return the words of the command; no shell sees them."""
        try:
            words = tuple(shlex.split(self.where))
        except ValueError as error:
            raise BadParameter(
                f"The command {self.where!r} cannot be split into words ({error}): close its quotes."
            ) from None
        if not words:
            raise BadParameter("An agent needs a command: say cmd:PROGRAM with its arguments.")
        return words
