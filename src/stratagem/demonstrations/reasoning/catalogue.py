"""Registry of reasoning by family of games and demonstrator."""

from __future__ import annotations

from typing import Any

from stratagem.demonstrations.reasoning import auction, ipd, kuhn, negotiation_v1, negotiation_v2
from stratagem.demonstrations.reasoning.base import Reasoners, draw_wording
from stratagem.games.base import View
from stratagem.games.key import Key

VERSION = 1
"""Version of the wordings, raised when a text changes; data sets record it."""

REASONERS: dict[str, Reasoners] = {
    "ipd": ipd.REASONERS,
    "auction": auction.REASONERS,
    "negotiation-v1": negotiation_v1.REASONERS,
    "negotiation-v2": negotiation_v2.REASONERS,
    "kuhn": kuhn.REASONERS,
}


def reasoning(demonstrator: str, view: View[Any], action: str, key: Key) -> str:
    """Draw a wording of the demonstrator's reasons for an action; empty for a demonstrator without reasons."""
    reasoner = REASONERS.get(view.game.spec.family, {}).get(demonstrator)
    return draw_wording(reasoner(view, action), key) if reasoner else ""
