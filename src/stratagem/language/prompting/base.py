"""Prompt styles: functions from a view to chat messages, ordered from most shared to least.

What every turn of every game has in common comes first, then the rules, then the situation, then the question: prompts
that share a beginning share its computation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple

from stratagem.games.base import View
from stratagem.language.prompting.past import NOTHING, Past

Role = Literal["system", "user", "assistant"]


class ChatMessage(NamedTuple):
    """One turn of a chat."""

    role: Role
    content: str


class Style(ABC):
    """Function from a turn to a prompt, with its options."""

    mark: str = ""
    """Mark before the action where a reply may reason first; a constrained reply begins there."""

    lead: str = ""
    """Text between the mark and the action."""

    close: str = ""
    """Text that may follow the action; of a free reply only the part before it is read."""

    @property
    def memory(self) -> int | None:
        """Number of past rounds that the prompt shows, as `Traits.memory` counts them."""
        return None

    @property
    def recalls(self) -> bool:
        """True if the prompt shows earlier episodes too, where the seat remembers them."""
        return False

    @abstractmethod
    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        """Return the prompt of a seat with this view and this memory of earlier episodes."""

    def ask_again(self, messages: list[ChatMessage], refused: str) -> list[ChatMessage]:
        """Return the prompt after a reply that named no legal action; here the same prompt."""
        return messages


__all__ = ["ChatMessage", "Role", "Style"]
