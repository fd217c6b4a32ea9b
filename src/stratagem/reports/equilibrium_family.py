"""Kuhn poker's equilibria as a yardstick: what every information set is worth playing, from end to end of the family.

All equilibria are one family with one free number, alpha from 0 to 1/3; every probability is linear in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from stratagem.games.kuhn import CARDS, KuhnFacts
from stratagem.players.kuhn import NashApprox

KUHN = re.compile(r"kuhn(\(.*\))?")
"""The texts that make the game."""
ALPHA_MAX = 1 / 3
GROUPS: dict[str, tuple[str, str]] = {
    "": ("First to act", "bets"),
    "PB": ("Has passed, then faces a bet", "calls"),
    "P": ("Second, after a pass", "bets"),
    "B": ("Second, facing a bet", "calls"),
}
"""By the betting so far: who decides, and what."""
Probabilities = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Place:
    """One information set, and how probably an equilibrium bets or calls there."""

    card: str
    line: str
    low: float
    """At alpha = 0."""
    high: float
    """At alpha = 1/3."""

    @property
    def key(self) -> str:
        """Its information key."""
        return f"{self.card}:{self.line}"

    def at(self, alpha: float) -> float:
        """What the member of the family with this alpha plays."""
        return self.low + (self.high - self.low) * alpha / ALPHA_MAX

    def played(self, policy: Probabilities) -> float | None:
        """How probably a policy bets or calls here; None where it does not say."""
        mix = policy.get(self.key)
        return None if mix is None else mix.get("CALL", 0.0) + mix.get("BET", 0.0)


def places() -> list[Place]:
    """The twelve information sets, group by group."""
    return [
        Place(card, line, _bold(0.0, card, line), _bold(ALPHA_MAX, card, line)) for line in GROUPS for card in CARDS
    ]


def _bold(alpha: float, card: str, line: str) -> float:
    player, facts = NashApprox(alpha), KuhnFacts(0, card, line, line in ("", "PB"))
    return float(player.calls(facts) if facts.facing_bet else player.bets(facts))


def nearest_alpha(policy: Probabilities) -> float:
    """The member of the family that is nearest, by least squares over the information sets."""
    pairs = [(place, played) for place in places() if (played := place.played(policy)) is not None]
    slopes = [(place.high - place.low) / ALPHA_MAX for place, _ in pairs]
    along = math.fsum(slope * (played - place.low) for slope, (place, played) in zip(slopes, pairs, strict=True))
    length = math.fsum(slope**2 for slope in slopes)
    return min(max(along / length, 0.0), ALPHA_MAX) if length else 0.0


def distance(policy: Probabilities) -> float:
    """The mean distance, over the information sets, from the nearest member of the family."""
    alpha = nearest_alpha(policy)
    apart = [abs(played - place.at(alpha)) for place in places() if (played := place.played(policy)) is not None]
    return math.fsum(apart) / len(apart) if apart else math.nan
