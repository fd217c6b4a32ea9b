"""DumbBot's values of the board: the value of each place to a power, near and far (Norman 2003)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.graph import Graph, Node, able, graph_of, province

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AppraisalWeights:
    """Weights of the terms of a value."""

    attack: int
    defence: int
    proximity: tuple[int, ...]
    """By distance, from the place itself outwards."""
    strength: int = 1000
    competition: int = 1000
    guard: int = 0
    """Additional weight of defence."""
    vacant: int = 0
    """Additional weight of the attack on a foreign centre in which no other power has a unit."""


SPRING = AppraisalWeights(700, 300, (100, 1000, 30, 10, 6, 5, 4, 3, 2, 1))
FALL = AppraisalWeights(600, 400, (1000, 100, 30, 10, 6, 5, 4, 3, 2, 1))
WINTER = AppraisalWeights(700, 300, FALL.proximity, strength=0, competition=0, guard=1000)
# centres change hands after fall: in spring the places one move ahead count most, in fall the place itself
SEASONS: Mapping[str, AppraisalWeights] = {"S": SPRING, "F": FALL, "W": WINTER}


def size(centers: int) -> int:
    """Return the size of a power with this number of centres."""
    return centers * centers + 4 * centers + 16


class Neighbours:
    """A graph as arrays: by node, the provinces next to it, each with the nodes of it that can be entered from here."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.place = {node: number for number, node in enumerate(graph.nodes)}
        groups = [self._group_neighbours(others) for others in graph.next_to.values()]
        wide, deep = max(map(len, groups)), max(len(group) for own in groups for group in own)
        nobody = len(graph.nodes)
        self.groups = np.full((len(groups), wide, deep), nobody, dtype=np.int64)
        for row, own in enumerate(groups):
            for column, group in enumerate(own):
                self.groups[row, column] = [*group, *[group[0]] * (deep - len(group))]

    def _group_neighbours(self, others: tuple[Node, ...]) -> list[list[int]]:
        result: dict[str, list[int]] = {}
        for node in others:
            result.setdefault(province(node), []).append(self.place[node])
        return list(result.values())

    def spread(self, values: Ints) -> Ints:
        """Spread values one step.

        A node's own value and the best of each province next to it, added up and divided by five.
        """
        padded = np.append(values, 0)
        spread: Ints = (values + padded[self.groups].max(axis=2).sum(axis=1)) // 5
        return spread


@lru_cache(maxsize=8)
def neighbours_of(board: str) -> Neighbours:
    """Return the arrays of a map, cached."""
    return Neighbours(graph_of(board))


class Appraisal:
    """Values of a board for one power."""

    number: ClassVar[type[np.number[Any]]] = np.int64
    """Number type of the values."""
    seasons: ClassVar[Mapping[str, AppraisalWeights]] = SEASONS
    """Weights by season."""

    def __init__(self, map_name: str, centers: frozenset[str], board: Board, power: str) -> None:
        self.near = neighbours_of(map_name)
        self.board = board
        self.power = power
        self.weights = self.seasons[board.phase[0]]
        self._centers = centers
        self._sizes = {other: size(len(board.centers(other))) for other in board.powers}
        self._nobody = size(len(centers) - len(board.owners))
        self._able = {other: self._enterable(other) for other in board.powers}
        self.strength = self._able[power]
        """By province, the number of own units that could be there."""
        self.competition = self._competition()
        """By province, the largest number of units of any one other power that could be there."""

    def _enterable(self, power: str) -> Counter[str]:
        return able(self.near.graph, self.board.units(power))

    def _competition(self) -> Counter[str]:
        result: Counter[str] = Counter()
        for other, counted in self._able.items():
            if other != self.power:
                result |= counted
        return result

    def attack(self, place: str) -> int:
        """Return the size of the owner of a foreign centre; all free centres are one power together."""
        owner = self.board.owners.get(place)
        if place not in self._centers or owner == self.power:
            return 0
        return self._nobody if owner is None else self._sizes[owner]

    def _is_vacant(self, place: str) -> bool:
        """Return whether no other power has a unit in a province."""
        return self.board.occupants.get(place, (self.power, ""))[0] == self.power

    def defence(self, place: str) -> int:
        """Return the size of the largest power that could enter one's own centre."""
        if self.board.owners.get(place) != self.power:
            return 0
        return max((self._sizes[o] for o, able in self._able.items() if o != self.power and able[place]), default=0)

    def threat(self, other: str) -> int:
        """Return the size of a power times the ways in which its units could enter a province that matters here.

        Those are the own centres, and all provinces where own units could be.
        """
        places = {*self.strength, *self.board.centers(self.power)}
        return self._sizes[other] * sum(self._able[other][place] for place in places)

    def spread(self, level: Any) -> Any:
        """Return the values one step farther away."""
        return self.near.spread(level)

    def values(self) -> dict[Node, float]:
        """Return the present value of each node."""
        weights, nodes = self.weights, self.near.graph.nodes
        places = [province(node) for node in nodes]
        known: dict[str, tuple[int, int]] = {p: (self.attack(p), self.defence(p)) for p in set(places)}
        lures = {p: weights.attack + (weights.vacant if self._is_vacant(p) else 0) for p in known}
        level: Any = np.array([known[p][0] * lures[p] + known[p][1] * weights.defence for p in places], self.number)
        total = np.zeros_like(level)
        for weight in weights.proximity:
            total += weight * level
            level = self.spread(level)
        for number, p in enumerate(places):
            total[number] += weights.strength * self.strength[p] - weights.competition * self.competition[p]
            total[number] += weights.guard * known[p][1]
        return dict(zip(nodes, total.tolist(), strict=True))
