"""What a prompt style is: a function from a view to chat messages, ordered from most shared to least.

What every turn of every game has in common comes first, then the rules, then the situation, then the question: prompts
that share a beginning share its computation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple

from stratagem.games.base import View
from stratagem.prompting.past import NOTHING, Past

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a chat."""

    role: Role
    content: str


class Style(ABC):
    """A way of putting a turn into words."""

    mark: ClassVar[str] = ""
    """What stands before the action where a reply may reason first; a constrained reply begins there."""

    lead: ClassVar[str] = ""
    """What stands between the mark and the action."""

    close: ClassVar[str] = ""
    """What may stand after the action; of a free reply only what comes before it is read."""

    @property
    def memory(self) -> int | None:
        """How many past rounds the prompt tells of, as `Traits.memory` counts them."""
        return None

    @property
    def recalls(self) -> bool:
        """Whether the prompt tells of earlier episodes too, where the seat carries something over from them."""
        return False

    @abstractmethod
    def messages(self, view: View[Any], past: Past = NOTHING) -> list[Message]:
        """The prompt for the seat whose view this is, and what it carries over from earlier episodes."""
