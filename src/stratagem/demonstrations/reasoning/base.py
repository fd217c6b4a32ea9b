"""Parts of reasoning: a sequence of statements, each with several wordings, of which a key draws one.

A wording contains nothing that its seat does not observe, and never contains a legal action as such ("cooperation", not
"COOPERATE"): a reply that is cut short names no action, and a rule that stops at the first one does not stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stratagem.games.base import View
from stratagem.games.key import Key

Ways = tuple[str, ...]
"""Wordings of one statement."""
Reasons = tuple[Ways, ...]
"""Statements of one reasoning, in order."""
Reasoner = Callable[[View[Any], str], Reasons]
"""Function from a view and an action to the reasons of a demonstrator."""
Reasoners = Mapping[str, Reasoner]
"""Reasoners by demonstrator."""


def draw_wording(reasons: Reasons, key: Key) -> str:
    """Join one drawn wording of each statement."""
    return " ".join(ways[key.at(index).integer(len(ways))] for index, ways in enumerate(reasons))


def by_chance(outcome: str) -> Reasons:
    """Give reasons for a random action."""
    return (
        (
            "I follow no plan here, so there is nothing to predict.",
            "No pattern guides me, whatever was played before.",
            "Nothing I have seen decides this turn of mine.",
            "I like all my options equally well.",
        ),
        (
            f"A fair draw settles it: {outcome}.",
            f"Chance decides, and it says {outcome}.",
            f"I let the dice choose, and they choose {outcome}.",
        ),
    )


def counted(number: int, thing: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
