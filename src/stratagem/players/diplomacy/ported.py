"""DumbBot as the public port of it plays that DipNet was measured with (Paquette et al. 2019): another bot.

Its rules, where they are not those of the original:

- A centre that nobody owns is worth nothing to it, so it walks past what others take first.
- What is one step off counts from every node that a unit could enter from, armies' and fleets' alike, and not the best
  of each province alone; and from either kind in the place itself. Values are fractions.
- A unit does not count where it stands, only where it could go; nor is its own place preferred among equals.
- A unit values a place as an army or as a fleet, whichever it is.
- The next best is picked with max(0, .5 - 5 relative gap), and so are removals.
- A unit that is left holding supports whoever of its own stands best, not whoever goes where it is best.
- It may retreat to where it cannot, and is disbanded then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stratagem.games.diplomacy.graph import Graph, Node, province
from stratagem.players.diplomacy.appraisal import Appraisal
from stratagem.players.diplomacy.base import Dice
from stratagem.players.diplomacy.campaign import Campaign, rank_nodes
from stratagem.players.diplomacy.dumbbot import DumbBot

_GRAINS = 1_000_000
"""Resolution of the one draw of a pick."""


def picked_at_once(candidates: Sequence[Node], values: Mapping[Node, float], dice: Dice) -> Node:
    """Go from one candidate to the next with probability max(0, 0.5 - 5 relative gap), by one draw."""
    for here, after in pairwise(candidates):
        gap = abs(values[here] - values[after])
        chance = 5 * gap / values[here] if values[here] else 0.0
        if not chance <= dice.below(_GRAINS) / _GRAINS < 0.5:
            return here
    return candidates[-1]


class Mixture:
    """Graph in which armies and fleets differ only in where they can go."""

    def __init__(self, graph: Graph) -> None:
        nodes = graph.nodes
        places = {node: {other[2:] for other in others} for node, others in graph.next_to.items()}
        self.entered: dict[Node, tuple[Node, ...]] = {
            node: tuple(other for other in nodes if other[2:] in places[node]) for node in nodes
        }
        """By node, the nodes of either kind at the places where a unit there can move."""
        self._same = np.array([[province(a) == province(b) for b in nodes] for a in nodes])
        self._from: NDArray[np.float64] = np.array(
            [[float(bool({a[2:], province(a)} & places[b])) for b in nodes] for a in nodes]
        )

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Spread values one step.

        The best of either kind in a place and all from where a unit could come, divided by five.
        """
        own = np.where(self._same, values, 0.0).max(axis=1)
        spread: NDArray[np.float64] = (own + self._from @ values) / 5.0
        return spread


@lru_cache(maxsize=8)
def mixture_of(graph: Graph) -> Mixture:
    """Return the mixture of a map's graph, cached."""
    return Mixture(graph)


class PortedAppraisal(Appraisal):
    """Values of a board for one power, in the port."""

    number = np.float64

    def _enterable(self, power: str) -> Counter[str]:
        return Counter(place for unit in self.board.units(power) for place in self.near.graph.reach[unit])

    def attack(self, place: str) -> int:
        """Return the size of the owner of a centre; a centre that nobody owns has no value."""
        return super().attack(place) if place in self.board.owners else 0

    def spread(self, level: Any) -> Any:
        return mixture_of(self.near.graph).spread(level)


class PortedCampaign(Campaign):
    """Movement phase of the port."""

    def orders(self) -> list[str]:
        self._waiting: dict[str, set[str]] = defaultdict(set)
        """By province, the units that wait for the order of the unit there: it does not go to them."""
        return super().orders()

    def _decide(self, place: str, *, can_wait: bool) -> str | None:
        waits_for = super()._decide(place, can_wait=can_wait)
        if waits_for is not None:
            self._waiting[waits_for].add(place)
        return waits_for

    def _worth(self, unit: Node) -> Mapping[Node, float]:
        return self.values

    def _candidates(self, place: str, unit: Node, values: Mapping[Node, float]) -> list[Node]:
        free = (
            node
            for node in mixture_of(self.eyes.near.graph).entered[unit]
            if province(node) not in self._waiting[place]
        )
        return rank_nodes((*free, unit), values)

    def _stay_useful(self) -> None:
        """Support the best own unit that moves or stays beside it under threat."""
        for place, order in list(self._orders.items()):
            if order.endswith(" H"):
                unit = self._units[place]
                helped = [
                    (self._places_to_support(province(node)), node) for node in self.eyes.near.graph.next_to[unit]
                ]
                known = [(self.values[other], node) for other, node in helped if other and self.values[other] > 0.0]
                if known:
                    self._helps(unit, place, province(max(known, key=lambda pair: pair[0])[1]))

    def _places_to_support(self, target: str) -> Node | None:
        """Return the places whose move, or stay, needs support."""
        rivals = self.eyes.competition[target]
        if target in self._entered:
            return self._units[self._entered[target]] if rivals > 0 else None
        stays = target in self._units and province(self._goes[target]) == target
        return self._units[target] if stays and rivals > 1 else None


@dataclass(frozen=True)
class DumbBotPortedDipNet(DumbBot):
    """DumbBot as a public port of it plays, which DipNet was measured with: it does not look for free centres.

    Reference: Paquette et al. 2019, No-press Diplomacy, the rules of their ported DumbBot.
    """

    called = "dumbbot-ported-dipnet"
    pick = staticmethod(picked_at_once)
    appraisal = PortedAppraisal
    campaign = PortedCampaign
    strays = None

    def _retreats(self, eyes: Appraisal, values: Mapping[Node, float], dice: Dice) -> Iterable[str]:
        """Retreat to any place nearby without own units; a unit that may not go there is disbanded."""
        dislodged = eyes.board.units_to_retreat(eyes.power)
        taken = set(eyes.board.occupants)
        entered = mixture_of(eyes.near.graph).entered
        for unit in dice.shuffle_items(dislodged):
            chosen = self._refuge(rank_nodes(entered[unit], values), values, taken, dice)
            taken |= {province(chosen)} if chosen else set()
            yield f"{unit} R {chosen[2:]}" if chosen and chosen[2:] in dislodged[unit] else f"{unit} D"

    def _refuge(self, left: list[Node], values: Mapping[Node, float], taken: Container[str], dice: Dice) -> Node | None:
        while left:
            chosen = self.pick(left, values, dice)
            if province(chosen) not in taken:
                return chosen
            left.remove(chosen)
        return None

    def _removals(self, eyes: Appraisal, values: Mapping[Node, float], count: int, dice: Dice) -> Iterable[str]:
        """Remove from the worst unit upwards, by the same pick."""
        left = rank_nodes(eyes.board.units(eyes.power), values)[::-1]
        for _ in range(count):
            chosen = self.pick(left, values, dice)
            left.remove(chosen)
            yield f"{chosen} D"
