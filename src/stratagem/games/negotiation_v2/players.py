"""Negotiators over books, hats and balls; of equally valued items the one that is listed first goes first."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping

from stratagem.games.base import View
from stratagem.games.negotiation_v2.rules import Bundle, DivisionFacts, fits, write_bundle
from stratagem.players.base import Player, Scripted, Traits


class DivisionPlayer(Scripted[DivisionFacts]):
    """Player whose whole rule is the bundle that it demands."""

    family = "negotiation-v2"

    @abstractmethod
    def demand(self, facts: DivisionFacts) -> Bundle:
        """Return the units of each item to demand now."""

    def strategy(self, view: View[DivisionFacts]) -> str:
        return write_bundle(self.demand(view.facts))


def rank_items(facts: DivisionFacts) -> list[int]:
    """Return the items, the most valued first."""
    return sorted(range(len(facts.pool)), key=lambda item: -facts.values[item])


def dearest(facts: DivisionFacts, units: int) -> Bundle:
    """Take so many units of the pool, filled by own value from the top."""
    bundle = [0] * len(facts.pool)
    for item in rank_items(facts):
        bundle[item] = min(facts.pool[item], units)
        units -= bundle[item]
    return tuple(bundle)


def left_over(facts: DivisionFacts) -> Bundle:
    """Return the units that the other's last demand left in the pool."""
    return tuple(count - taken for count, taken in zip(facts.pool, facts.theirs[-1], strict=True))


def whole(facts: DivisionFacts, items: list[int]) -> Bundle:
    """Return the bundle of all units of these items."""
    return tuple(count if item in items else 0 for item, count in enumerate(facts.pool))


def fair(facts: DivisionFacts) -> Bundle:
    """Half of each item, with the odd unit of the most valued one."""
    top = rank_items(facts)[0]
    return tuple((count + (item == top)) // 2 for item, count in enumerate(facts.pool))


def proportional(facts: DivisionFacts) -> Bundle:
    """Return the bundle in proportion to the values, with at least one of the most valued item."""
    total, top = sum(facts.values), rank_items(facts)[0]
    shares = zip(facts.pool, facts.values, strict=True)
    units = [(2 * count * value + total) // (2 * total) for count, value in shares]
    units[top] = max(1, units[top])
    return tuple(units)


class FairNeg(DivisionPlayer):
    """Demands half of each item, rounded down, and the odd unit of its most valued item only (SEPO)."""

    def demand(self, facts: DivisionFacts) -> Bundle:
        return fair(facts)


class TitForTatNeg(DivisionPlayer):
    """Demands as FairNeg first, then as many units as the other last did, filled by own value (SEPO)."""

    traits = Traits(memory=1)

    def demand(self, facts: DivisionFacts) -> Bundle:
        return dearest(facts, sum(facts.theirs[-1])) if facts.theirs else fair(facts)


class ConcedeNeg(DivisionPlayer):
    """Demands everything, then one unit less a round, from its least valued item up (SEPO)."""

    def demand(self, facts: DivisionFacts) -> Bundle:
        return dearest(facts, max(0, sum(facts.pool) - len(facts.mine)))


class GreedyNeg(DivisionPlayer):
    """Demands everything (SEPO)."""

    def demand(self, facts: DivisionFacts) -> Bundle:
        return facts.pool


class HardballNeg(DivisionPlayer):
    """Demands all of its two most valued items (SEPO)."""

    def demand(self, facts: DivisionFacts) -> Bundle:
        return whole(facts, rank_items(facts)[:2])


class Proportional(DivisionPlayer):
    """Demands of each item the share of its units that its value has in the sum, to the nearest unit (SEPO)."""

    def demand(self, facts: DivisionFacts) -> Bundle:
        return proportional(facts)


class Conservative(DivisionPlayer):
    """Demands all of its most valued item and nothing else (SEPO)."""

    def demand(self, facts: DivisionFacts) -> Bundle:
        return whole(facts, rank_items(facts)[:1])


class Adaptive(DivisionPlayer):
    """Demands as Proportional, after a breakdown only as much of it as would have fitted (SEPO)."""

    traits = Traits(memory=1)

    def demand(self, facts: DivisionFacts) -> Bundle:
        wish = proportional(facts)
        return tuple(map(min, wish, left_over(facts))) if facts.last_failed else wish


class Defensive(DivisionPlayer):
    """Demands as FairNeg first, then what the other's last demand left (SEPO)."""

    traits = Traits(memory=1)

    def demand(self, facts: DivisionFacts) -> Bundle:
        return left_over(facts) if facts.theirs else fair(facts)


class HalfUnits(DivisionPlayer):
    """Demands half of all units, rounded down, filled by own value."""

    def demand(self, facts: DivisionFacts) -> Bundle:
        return dearest(facts, sum(facts.pool) // 2)


class MirrorNeg(DivisionPlayer):
    """Demands as FairNeg first, then exactly the bundle that the other last demanded."""

    traits = Traits(memory=1)

    def demand(self, facts: DivisionFacts) -> Bundle:
        return facts.theirs[-1] if facts.theirs else fair(facts)


class GrimNeg(DivisionPlayer):
    """Demands as FairNeg until a round has ended without a deal, then everything (after Friedman 1971)."""

    traits = Traits(memory=None)

    def demand(self, facts: DivisionFacts) -> Bundle:
        rounds = zip(facts.mine, facts.theirs, strict=True)
        return fair(facts) if all(fits(mine, theirs, facts.pool) for mine, theirs in rounds) else facts.pool


class Boulware(DivisionPlayer):
    """Demands as HardballNeg until two rounds have failed, then as FairNeg (after Faratin et al. 1998)."""

    traits = Traits(memory=None)

    def demand(self, facts: DivisionFacts) -> Bundle:
        rounds = zip(facts.mine, facts.theirs, strict=True)
        failures = sum(not fits(mine, theirs, facts.pool) for mine, theirs in rounds)
        return fair(facts) if failures >= 2 else whole(facts, rank_items(facts)[:2])


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "FairNeg": FairNeg,
    "TitForTatNeg": TitForTatNeg,
    "ConcedeNeg": ConcedeNeg,
    "GreedyNeg": GreedyNeg,
    "HardballNeg": HardballNeg,
    "Proportional": Proportional,
    "Conservative": Conservative,
    "Adaptive": Adaptive,
    "Defensive": Defensive,
    "HalfUnits": HalfUnits,
    "MirrorNeg": MirrorNeg,
    "GrimNeg": GrimNeg,
    "Boulware": Boulware,
}
"""Players by name."""
