"""DumbBot's orders of a movement phase from its values: unit by unit, in a random order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from stratagem.games.choices import Sheet
from stratagem.games.diplomacy.graph import Node, province
from stratagem.players.diplomacy.appraisal import Appraisal
from stratagem.players.diplomacy.base import Dice, first_offered

Pick = Callable[[Sequence[Node], Mapping[Node, float], Dice], Node]
"""Choice of one of the candidates, which are given the best first."""


def rank_nodes(nodes: Iterable[Node], values: Mapping[Node, float]) -> list[Node]:
    """Return the candidates, the best first; ties in alphabetical order."""
    return sorted(nodes, key=lambda node: (-values[node], node))


class Campaign:
    """The orders of one movement phase, unit by unit."""

    def __init__(self, eyes: Appraisal, values: Mapping[Node, float], sheet: Sheet, dice: Dice, pick: Pick) -> None:
        self.eyes = eyes
        self.values = values
        self.sheet = sheet
        self.dice = dice
        self._pick = pick
        self._units = {province(unit): unit for unit in eyes.board.units(eyes.power)}
        self._goes: dict[str, Node] = {}
        """By province of a decided unit: the node where it will be; its own where it stays."""
        self._entered: dict[str, str] = {}
        """By province that an own unit enters: that unit."""
        self._orders: dict[str, str] = {}

    def orders(self) -> list[str]:
        """Return the order of every unit."""
        queue = self.dice.shuffle_items(sorted(self._units))
        patience = 4 * len(queue)
        while queue:
            patience -= 1
            place = queue.pop(0)
            waits_for = self._decide(place, can_wait=patience > 0)
            if waits_for is not None:
                queue.insert(queue.index(waits_for) + 1, place)
        self._stay_useful()
        return [self._orders[place] for place in self._units]

    def _decide(self, place: str, *, can_wait: bool) -> str | None:
        """Give an order to the unit there, or name the unit whose order it waits for."""
        unit = self._units[place]
        levels = self._worth(unit)
        candidates = self._candidates(place, unit, levels)
        while candidates:
            node = self._pick(candidates, levels, self.dice)
            target = province(node)
            if target == place:
                break
            if target in self._units and target not in self._goes:
                if can_wait:
                    return target
                candidates.remove(node)
            elif self._try(unit, node, target):
                return None
            else:
                candidates.remove(node)
        self._goes[place], self._orders[place] = unit, f"{unit} H"
        return None

    def _worth(self, unit: Node) -> Mapping[Node, float]:
        """Return the value to compare by; among equals the unit's own place wins."""
        return {**self.values, unit: self.values[unit] + 1}

    def _candidates(self, place: str, unit: Node, levels: Mapping[Node, float]) -> list[Node]:
        """Return the possible destinations of the unit there, the best first."""
        return rank_nodes((*self.eyes.near.graph.next_to[unit], unit), levels)

    def _try(self, unit: Node, node: Node, target: str) -> bool:
        """Move there, or support the unit that is or will be there under threat; False if neither makes sense."""
        place, rivals = province(unit), self.eyes.competition[target]
        if target in self._units and province(self._goes[target]) == target:
            return rivals > 1 and self._support(place, f"{unit} S {self._units[target]}")
        if target in self._entered:
            mover = self._entered[target]
            return rivals > 0 and self._support(place, *self._supports_of(unit, mover))
        self._goes[place], self._entered[target] = node, place
        self._orders[place] = f"{unit} - {node[2:]}"
        return True

    def _supports_of(self, unit: Node, mover: str) -> tuple[str, ...]:
        where = self._goes[mover][2:]
        return tuple(f"{unit} S {self._units[mover]} - {name}" for name in dict.fromkeys((where, where[:3])))

    def _support(self, place: str, *wanted: str) -> bool:
        order = first_offered(self.sheet, *wanted)
        if order is None:
            return False
        self._goes[place], self._orders[place] = self._units[place], order
        return True

    def _stay_useful(self) -> None:
        """Support the best neighbouring place that an own unit enters, or stays in, under threat."""
        for place, order in list(self._orders.items()):
            if order.endswith(" H"):
                unit = self._units[place]
                for node in rank_nodes(self.eyes.near.graph.next_to[unit], self.values):
                    if self._helps(unit, place, province(node)):
                        break

    def _helps(self, unit: Node, place: str, target: str) -> bool:
        rivals = self.eyes.competition[target]
        if target in self._entered:
            return rivals > 0 and self._support(place, *self._supports_of(unit, self._entered[target]))
        stays = target in self._units and province(self._goes[target]) == target
        return stays and rivals > 1 and self._support(place, f"{unit} S {self._units[target]}")
