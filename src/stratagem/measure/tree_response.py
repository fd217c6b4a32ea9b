"""Best response of one seat on a game tree, in one pass from the leaves to the root.

At an information set the value of an action is the sum over its nodes of what the action leads to, each weighted by the
probability that chance and the others bring the seat there. A pass by depth needs every set at one depth; that holds in
games that tell a seat when it acts, and OpenSpiel's best response serves the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.base import Seat
from stratagem.games.tree import TERMINAL, GameTree, InformationSet

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class BestResponse(NamedTuple):
    """Best response of one seat to a policy of all others."""

    seat: Seat
    value: float
    """Expected value of its objective."""
    slots: Ints
    """Chosen slot of each of its information sets, in their order."""


class LayeredResponder:
    """Best responses on a tree whose information sets each lie at one depth."""

    def __init__(self, tree: GameTree) -> None:
        self._tree = tree
        self._layers = list(tree.layers())
        seats = np.array([known.seat for known in tree.information_sets])
        self._seat_of_slot = seats[tree.set_of_slot]
        self._first_slots = [tree.slots[:-1][seats == seat] for seat in range(tree.game.spec.seats)]

    def __call__(self, policy: Floats, seat: Seat, returns: Floats) -> BestResponse:
        """Return the best response for an objective with these returns by node."""
        tree = self._tree
        own = (tree.slot >= 0) & (self._seat_of_slot[tree.slot] == seat)
        chance = np.where(own, 1.0, np.where(tree.slot >= 0, policy[tree.slot], tree.probability))
        reach = self._reach(chance)
        values = np.where(tree.mover == TERMINAL, returns, 0.0)
        by_slot, chosen = np.zeros(len(policy)), np.zeros(len(policy))
        for layer, above in zip(self._layers[:0:-1], self._layers[-2::-1], strict=True):
            slots, mine = tree.slot[layer], own[layer]
            by_slot += sum_by_place(slots[mine], (reach[layer] * values[layer])[mine], len(policy))
            chosen[self._best(by_slot, slots[mine])] = 1.0
            weights = np.where(mine, chosen[slots], chance[layer]) * values[layer]
            size = above.stop - above.start
            values[above] += sum_by_place(tree.parent[layer] - above.start, weights, size)
        return BestResponse(seat, float(values[0]), self._choose_actions(chosen, seat))

    def _reach(self, chance: Floats) -> Floats:
        """Return the probability of each node where the responder plays to reach it."""
        reach = chance.copy()
        for layer in self._layers[1:]:
            reach[layer] *= reach[self._tree.parent[layer]]
        return reach

    def _best(self, by_slot: Floats, slots: Ints) -> Ints:
        """Return the best slot of each information set among those of these slots; the first of equals."""
        tree = self._tree
        sets = np.unique(tree.set_of_slot[slots])
        if not len(sets):
            return sets
        starts, sizes = tree.slots[sets], np.diff(tree.slots)[sets]
        rows = np.full((len(sets), int(sizes.max())), -np.inf)
        within = np.arange(rows.shape[1]) < sizes[:, None]
        rows[within] = by_slot[(starts[:, None] + np.arange(rows.shape[1]))[within]]
        best: Ints = starts + rows.argmax(axis=1)
        return best

    def _choose_actions(self, chosen: Floats, seat: Seat) -> Ints:
        slots: Ints = np.flatnonzero(chosen * (self._seat_of_slot == seat))
        return slots


def sum_by_place(places: Ints, values: Floats, size: int) -> Floats:
    """Add values by place, numbered from 0 to below `size`."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


def is_layered(tree: GameTree) -> bool:
    """Return whether each information set lies at one depth."""
    depths = np.repeat(np.arange(len(tree.depths) - 1), np.diff(tree.depths))
    moved = tree.information_set >= 0
    lowest = np.full(len(tree.information_sets), len(tree.depths))
    highest = np.zeros(len(tree.information_sets), dtype=np.int64)
    np.minimum.at(lowest, tree.information_set[moved], depths[moved])
    np.maximum.at(highest, tree.information_set[moved], depths[moved])
    return bool((lowest == highest).all())


def moves_of(tree: GameTree, slots: Iterable[int]) -> Iterator[tuple[InformationSet, str]]:
    """Yield the information set and the action of each slot."""
    for slot in slots:
        number = int(tree.set_of_slot[slot])
        known = tree.information_sets[number]
        yield known, known.actions[slot - int(tree.slots[number])]


def slots_of(tree: GameTree, actions: dict[int, int], seat: Seat) -> Ints:
    """Return the slots of actions by information set, the first action where none is named."""
    sets: Sequence[int] = [number for number, known in enumerate(tree.information_sets) if known.seat == seat]
    return np.array([tree.slots[number] + actions.get(number, 0) for number in sets], dtype=np.int64)
