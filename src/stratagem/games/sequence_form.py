"""Sequence form of a game tree: reach, values and best responses by the seats' own sequences of actions.

A sequence is a seat's own actions on the way to a node (von Stengel 1996, Games and Economic Behavior 14). With
perfect recall a policy is the probability of each sequence, and all that a seat can gain from a sequence is one number,
a sum over the ends of the game. So an expected value is a sum over ends, and a best response one pass over the seat's
information sets; the other nodes of the tree are not visited again. The tree may have any number of seats.

The information sets of a seat stand together, by the number of its own moves before them, and those after the same
sequence are neighbours: a pass works on slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.base import Seat
from stratagem.games.tree import TERMINAL, GameTree
from stratagem.games.tree_sets import InformationSet

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


_EQUAL = 1e-12
"""Difference of gains that is rounding."""


class BestResponse(NamedTuple):
    """Best response of one seat to a policy of all others."""

    seat: Seat
    value: float
    """Expected value of its objective."""
    slots: Ints
    """Chosen slot of the tree at each of its information sets, in their order."""


class SetLayer(NamedTuple):
    """Information sets of one seat with as many own moves before them."""

    slots: slice
    """Their slots, among those of the seat."""
    starts: Ints
    """First slot of each set, counted within the layer."""
    set_of_slot: Ints
    """Set of each slot, counted within the layer."""
    parents: Ints
    """Sequences after which sets stand, each once; 0 is the empty sequence, and slot k ends sequence k + 1."""
    first_sets: Ints
    """First set after each of them, counted within the layer."""
    before: Ints
    """Sequence before each slot's set."""


class SeatSequences(NamedTuple):
    """Information sets of one seat, and where its sequences end."""

    order: Ints
    """Slot of the tree of each slot here."""
    layers: tuple[SetLayer, ...]
    starts: Ints
    """First slot of each set."""
    sizes: Ints
    """Number of slots of each set."""

    def plan(self, policy: Floats) -> Floats:
        """Return the probability of each sequence by the seat's own moves, for a policy by its slots."""
        plan = np.empty(len(self.order) + 1)
        plan[0] = 1.0
        for layer in self.layers:
            after = slice(layer.slots.start + 1, layer.slots.stop + 1)
            np.multiply(plan[layer.before], policy[layer.slots], out=plan[after])
        return plan

    def by_set(self, values: Floats) -> Floats:
        """Sum values by slot over each information set, and return the sum at each slot."""
        return np.repeat(np.add.reduceat(values, self.starts), self.sizes)

    def follow(self, policy: Floats, gains: Floats) -> Floats:
        """Return what each slot gains over its information set by a policy; `gains` becomes the value by sequence."""
        over = np.empty(len(self.order))
        for layer in reversed(self.layers):
            gained = gains[layer.slots.start + 1 : layer.slots.stop + 1]
            values = np.add.reduceat(policy[layer.slots] * gained, layer.starts)
            np.subtract(gained, values[layer.set_of_slot], out=over[layer.slots])
            gains[layer.parents] += np.add.reduceat(values, layer.first_sets)
        return over

    def respond(self, gains: Floats) -> Ints:
        """Return the best slot of each information set; `gains` becomes the value by sequence.

        Of actions that are equal up to rounding it is the first, so that no order of sums decides.
        """
        best = np.empty(len(self.starts), dtype=np.int64)
        done = len(best)
        for layer in reversed(self.layers):
            gained = gains[layer.slots.start + 1 : layer.slots.stop + 1]
            values = np.maximum.reduceat(gained, layer.starts)
            highest = np.flatnonzero(gained >= values[layer.set_of_slot] - _EQUAL)
            _, first = np.unique(layer.set_of_slot[highest], return_index=True)
            best[done - len(values) : done] = highest[first] + layer.slots.start
            done -= len(values)
            gains[layer.parents] += np.add.reduceat(values, layer.first_sets)
        return best


class SequenceForm:
    """Sequences of all seats of a tree, and the ends of the game that they lead to."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.seats = tuple(_sequences_of(tree, seat) for seat in range(tree.game.spec.seats))
        self._places = np.zeros(len(tree.set_of_slot), dtype=np.int64)
        for one in self.seats:
            self._places[one.order] = np.arange(len(one.order))
        ends = tree.mover == TERMINAL
        self._ends = ends
        self._chance = self._chance_reach()[ends]
        last = np.stack([last[ends] for last in self._last_sequences()], axis=1)
        kept, place = np.unique(last, axis=0, return_inverse=True)
        self._place = place.reshape(-1)
        self._ends_of_seats = tuple(_sort_ends(kept, seat) for seat in range(len(self.seats)))

    def _last_sequences(self) -> list[Ints]:
        """Return for each seat the sequence that each node stands after."""
        tree = self.tree
        moved = tree.slot >= 0
        mover = np.where(moved, tree.information_sets.columns.seat[tree.set_of_slot[tree.slot]], -1)
        found = []
        for seat in range(len(self.seats)):
            last = np.where(mover == seat, self._places[tree.slot] + 1, -1)
            last[0] = 0
            for layer in list(tree.layers())[1:]:
                part = last[layer]
                last[layer] = np.where(part < 0, last[tree.parent[layer]], part)
            found.append(last)
        return found

    def _chance_reach(self) -> Floats:
        tree = self.tree
        reach = np.where(tree.slot >= 0, 1.0, tree.probability)
        for layer in list(tree.layers())[1:]:
            reach[layer] *= reach[tree.parent[layer]]
        return reach

    @cached_property
    def ends(self) -> Ends:
        """Ends of the game with its own returns."""
        return self.ends_of(self.tree.returns)

    def ends_of(self, returns: Floats) -> Ends:
        """Return the ends of the game for returns by node and seat; ends after the same sequences of all are one."""
        paid = self._chance[:, None] * returns[self._ends]
        seats = zip(self._ends_of_seats, paid.T, strict=True)
        return tuple(one._replace(paid=sum_by_place(self._place, own, len(one.order))[one.order]) for one, own in seats)

    def plans(self, policy: Floats) -> list[Floats]:
        """Return the plan of each seat, for a policy by the slots of the tree."""
        return [one.plan(policy[one.order]) for one in self.seats]

    def join(self, policies: list[Floats]) -> Floats:
        """Join the policies of the seats to one by the slots of the tree."""
        policy = np.empty(len(self.tree.set_of_slot))
        for one, own in zip(self.seats, policies, strict=True):
            policy[one.order] = own
        return policy

    def gains(self, ends: Ends, plans: list[Floats], seat: Seat) -> Floats:
        """Return what a seat gains at the ends of each of its sequences, where the others play plans."""
        own = ends[seat]
        weights = own.paid
        for other, last in own.last.items():
            weights = weights * plans[other][last]
        gains = np.zeros(len(self.seats[seat].order) + 1)
        gains[own.sequences] = np.add.reduceat(weights, own.starts)
        return gains

    def value(self, plans: list[Floats], seat: Seat) -> float:
        """Return the expected return of a seat."""
        return float(self.gains(self.ends, plans, seat) @ plans[seat])

    def best_response(self, ends: Ends, plans: list[Floats], seat: Seat) -> BestResponse:
        """Return a seat's best response to the plans of the others."""
        gains = self.gains(ends, plans, seat)
        best = self.seats[seat].respond(gains)
        return BestResponse(seat, float(gains[0]), np.sort(self.seats[seat].order[best]))


class SeatEnds(NamedTuple):
    """Ends of the game in the order of one seat's sequences."""

    order: Ints
    """Number of each end."""
    sequences: Ints
    """Sequences of the seat that the game ends after, each once."""
    starts: Ints
    """First end after each of them."""
    last: Mapping[Seat, Ints]
    """By other seat: its sequence at each end."""
    paid: Floats
    """Return of the seat at each end, times the probability of chance."""


Ends = tuple[SeatEnds, ...]
"""Ends of the game, by seat."""


def _sort_ends(last: Ints, seat: Seat) -> SeatEnds:
    """Sort ends by the sequence of a seat, for the sequences of all seats by end; their payoffs are still 0."""
    order = np.argsort(last[:, seat], kind="stable")
    sequences, starts = np.unique(last[order, seat], return_index=True)
    others = {other: last[order, other] for other in range(last.shape[1]) if other != seat}
    return SeatEnds(order, sequences, starts, others, np.zeros(len(order)))


def moves_of(tree: GameTree, slots: Iterable[int]) -> Iterator[tuple[InformationSet, str]]:
    """Yield the information set and the action of each slot."""
    for slot in slots:
        number = int(tree.set_of_slot[slot])
        known = tree.information_sets[number]
        yield known, known.actions[slot - int(tree.slots[number])]


def sum_by_place(places: Ints, values: Floats, size: int) -> Floats:
    """Add values by place, numbered from 0 to below `size`."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


def _sequences_of(tree: GameTree, seat: Seat) -> SeatSequences:
    columns, sizes, slots = tree.information_sets.columns, tree.information_sets.sizes, tree.slots
    place = np.full(len(tree.set_of_slot) + 1, -1, dtype=np.int64)  # the last is that of slot -1
    order: list[Ints] = []
    layers: list[SetLayer] = []
    counts = np.zeros(0, dtype=np.int64)
    here = np.flatnonzero((columns.seat == seat) & (columns.before < 0))
    later = np.flatnonzero((columns.seat == seat) & (columns.before >= 0))
    first = 0
    while len(here):
        here = here[np.argsort(place[columns.before[here]], kind="stable")]
        own = sizes[here]
        starts = np.cumsum(own) - own
        total = int(own.sum())
        order.append(np.repeat(slots[here] - starts, own) + np.arange(total))
        place[order[-1]] = np.arange(first, first + total)
        sequences = place[columns.before[here]] + 1
        parents, first_sets = np.unique(sequences, return_index=True)
        layers.append(
            SetLayer(
                slots=slice(first, first + total),
                starts=starts,
                set_of_slot=np.repeat(np.arange(len(here)), own),
                parents=parents,
                first_sets=first_sets,
                before=np.repeat(sequences, own),
            )
        )
        counts, first = np.concatenate([counts, own]), first + total
        reached = place[columns.before[later]] >= 0  # a set stands one layer after its seat's last one
        here, later = later[reached], later[~reached]
    return SeatSequences(
        np.concatenate(order or [np.zeros(0, dtype=np.int64)]), tuple(layers), np.cumsum(counts) - counts, counts
    )
