"""The reasoning of every demonstrator, by family of games and name."""

from __future__ import annotations

from typing import Any

from stratagem.demonstrations.reasoning import auction, ipd, kuhn, negotiation_v1, negotiation_v2
from stratagem.demonstrations.reasoning.base import Reasoners, told
from stratagem.games.base import View
from stratagem.games.key import Key

VERSION = 1
"""Raised when a change would change what is said; data sets carry it."""

REASONERS: dict[str, Reasoners] = {
    "ipd": ipd.REASONERS,
    "auction": auction.REASONERS,
    "negotiation-v1": negotiation_v1.REASONERS,
    "negotiation-v2": negotiation_v2.REASONERS,
    "kuhn": kuhn.REASONERS,
}


def reasoning(demonstrator: str, view: View[Any], action: str, key: Key) -> str:
    """Why this demonstrator plays this action here, in one of the ways there are."""
    return told(REASONERS[view.game.spec.family][demonstrator](view, action), key)
