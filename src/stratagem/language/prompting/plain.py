"""The plain style, for any game: a system message, the rules, the situation, the question.

A change of the system message is a new version, so that stored results keep the prompts that they were measured with. A
style without `version` has version 1: `plain` is `plain(version=1)`, and new recipes name `plain(version=2)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import View
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.language.prompting.past import NOTHING, Past

GOALS = {
    1: "You play a game and want to be paid as much as you can over the whole of it.",
    2: "Your goal is to maximise your total payoff over the game.",
}
"""System message by version of the styles that begin with it."""
_LONGEST_LINE = 200
"""Number of characters of a refused line that a second question repeats."""
_LISTED = 12
"""Number of choices beyond which only the first are listed."""


def question(view: View[Any]) -> str:
    """Write the question with the choices."""
    return f"You may play: {view.choices.summary(_LISTED)}."


@dataclass(frozen=True, kw_only=True)
class GoalStyle(Style):
    """Style that begins with the goal of the player, as the system message."""

    version: int = 1
    """Version of the system message."""

    def __post_init__(self) -> None:
        if type(self.version) is not int or self.version not in GOALS:  # a truth value and 2.0 are equal to one
            raise BadParameter(f"A style needs `version` as {' or '.join(map(str, GOALS))}, not {self.version!r}.")

    def goal(self) -> ChatMessage:
        """Return the system message."""
        return ChatMessage("system", GOALS[self.version])


@dataclass(frozen=True)
class Plain(GoalStyle):
    """Asks for the action alone."""

    listed: bool = True
    """True to list the choices. Without that the situation comes last, and all before it is shared."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.listed, bool):
            raise BadParameter(f"A style needs `listed` as True or False, not {self.listed!r}.")

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        situation, asked = self.situation(view), "Answer with the action alone."
        parts = (view.rules, situation, f"{question(view)}\n{asked}") if self.listed else (view.rules, asked, situation)
        return [self.goal(), ChatMessage("user", "\n\n".join(parts))]

    def situation(self, view: View[Any]) -> str:
        """Write the history and the present position."""
        return view.situation


@dataclass(frozen=True)
class ReasonedStyle(GoalStyle):
    """Asks for a few sentences of reasoning, and then the action on a line of its own."""

    mark = "Action:"
    lead = " "

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        asked = f"{question(view)}\nReason in a few sentences; then write, as the last line, Action: and your action."
        return [self.goal(), ChatMessage("user", f"{view.rules}\n\n{view.situation}\n\n{asked}")]


@dataclass(frozen=True)
class ArenaStyle(GoalStyle):
    """Asks as public arenas do: the rules and the position, and no list of what may be played."""

    version: int = 2
    mark = "Final Answer:"
    lead = " "

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        asked = "Choose your move. Write, as the last line, Final Answer: and your move."
        return [self.goal(), ChatMessage("user", f"{view.rules}\n\n{view.situation}\n\n{asked}")]

    def ask_again(self, messages: list[ChatMessage], refused: str) -> list[ChatMessage]:
        """Return the prompt with the last line of the reply behind it, which named no legal move."""
        *before, last = messages
        lines = refused.strip().splitlines() or ["(nothing)"]
        told = f"You replied: {lines[-1][:_LONGEST_LINE]}\nThat is no legal move here. Choose another one."
        return [*before, ChatMessage(last.role, f"{last.content}\n\n{told}")]


class Brief(Plain):
    """Shows of the history only the game's short name of the state.

    Situations that look the same to the seat have one prompt, so a table of rows by prompt is a policy by state.
    """

    def situation(self, view: View[Any]) -> str:
        return f"State: {view.state_key}"


@dataclass(frozen=True)
class Bare(Style):
    """Shows the situation and nothing else: for a model that learns a game from games, not from its rules."""

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        return [ChatMessage("user", view.situation)]
