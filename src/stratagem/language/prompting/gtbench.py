"""The style of GTBench's games, as SCO-PAL uses it: the seat's part, the game so far, the legal moves, a fixed format.

The layout follows GTBench (Duan et al. 2024); the words are ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stratagem.games.base import View
from stratagem.games.choices import Choices, Sheet
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.language.prompting.past import NOTHING, Past

_SYSTEM = "You are a strong player of board games, card games and negotiations. Play to win."


@dataclass(frozen=True)
class GTBench(Style):
    """Lists all legal moves; the answer stands between angle brackets, after reasoning if `reason` is set."""

    reason: bool = False
    mark = "<"

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        how = "First think step by step. Then answer" if self.reason else "Answer"
        moves = "\n".join(f"<{move}>" for move in list_moves(view.choices))
        asked = f"The legal moves:\n{moves}\n{how} with {answer_form(view.choices)}."
        return [ChatMessage("system", f"{_SYSTEM}\n{view.rules}"), ChatMessage("user", f"{view.situation}\n\n{asked}")]


def list_moves(choices: Choices) -> Iterable[str]:
    """Write every legal move; of a sheet every line, since its actions are too many."""
    if isinstance(choices, Sheet):
        return dict.fromkeys(option for slot in choices.slots for option in slot.options)
    return choices


def answer_form(choices: Choices) -> str:
    """Return the form of an answer."""
    if isinstance(choices, Sheet) and choices.fill > 1:
        return f"{choices.fill} legal moves, each for another unit and on a line of its own, as the last lines"
    return "one legal move between angle brackets, on the last line"
