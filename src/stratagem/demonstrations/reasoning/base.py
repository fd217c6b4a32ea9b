"""What reasoning is made of: a few things to say one after another, each in several ways, of which a key draws one.

A way says nothing that its seat does not see, and never contains a legal action as such ("cooperation", not
"COOPERATE"): a reply that is cut short names no action, and a rule that stops at the first one does not stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stratagem.games.base import View
from stratagem.games.key import Key

Ways = tuple[str, ...]
"""One thing, in several ways."""
Reasons = tuple[Ways, ...]
"""Things to say, in order."""
Reasoner = Callable[[View[Any], str], Reasons]
"""Why a demonstrator plays this action in this situation."""
Reasoners = Mapping[str, Reasoner]
"""By demonstrator."""


def told(reasons: Reasons, key: Key) -> str:
    """One way of saying it all."""
    return " ".join(ways[key.at(place).integer(len(ways))] for place, ways in enumerate(reasons))


def by_chance(outcome: str) -> Reasons:
    """Why somebody who plays at random does this."""
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
