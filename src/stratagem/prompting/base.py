"""What a prompt style is: a function from a view to chat messages, ordered from most shared to least.

What every turn of every game has in common comes first, then the rules, then the situation, then the question: prompts
that share a beginning share its computation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from stratagem.games.base import View

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True)
class Past:
    """What a seat carries over from before this episode: how often each joint action was played, its own first."""

    counts: Mapping[str, int] = field(default_factory=dict)


NOTHING = Past()


class Style(ABC):
    """A way of putting a turn into words."""

    mark: ClassVar[str] = ""
    """What stands before the action where a reply may reason first; a constrained reply begins there."""

    lead: ClassVar[str] = ""
    """What stands between the mark and the action."""

    @property
    def memory(self) -> int | None:
        """How many past rounds the prompt tells of, as `Traits.memory` counts them."""
        return None

    @abstractmethod
    def messages(self, view: View[Any], past: Past = NOTHING) -> list[Message]:
        """The prompt for the seat whose view this is."""
