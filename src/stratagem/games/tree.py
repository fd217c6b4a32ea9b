"""Game tree of a finite game as arrays.

Seats that choose at once are nodes one after another, in the order of the seats, and none sees the choice of another.
An information set is what its seat sees when it acts, with its own earlier information sets and actions, so every seat
has perfect recall.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from stratagem.games.base import Game
from stratagem.games.tree_sets import InformationSet, InformationSets

if TYPE_CHECKING:
    import numpy as np

    from stratagem.games.tree_sets import Ints

    Floats = np.ndarray[Any, np.dtype[np.float64]]

CHANCE, TERMINAL = -1, -4
"""Movers that are no seat, numbered as in OpenSpiel."""


class RoundKind(NamedTuple):
    """Rounds of one kind in a game whose rounds know nothing of each other, or a whole game."""

    share: float
    """Share of these rounds among all rounds."""
    numbers: tuple[int, ...]
    """Numbers of these rounds, modulo the game's number of kinds."""
    sets: Sequence[InformationSet]
    """Information sets as these rounds show them, in the order of the tree's own."""


@dataclass(frozen=True, eq=False)
class GameTree:
    """All nodes of a game, or of a round of it, the root first and then depth by depth; siblings stand together."""

    game: Game[Any]
    parent: Ints
    mover: Ints
    """Seat to move, CHANCE or TERMINAL."""
    information_set: Ints
    """Index of the information set of the node; -1 where no seat moves."""
    choice: Ints
    """Index of the action or outcome that leads from the parent to the node."""
    probability: Floats
    """Probability of that outcome; 1 where a seat moved."""
    first_child: Ints
    num_children: Ints
    returns: Floats
    """Payoffs from the root to the node, by seat."""
    rounds: Ints
    """Rounds that were closed on the way to the node."""
    depths: Ints
    """First node of each depth, and the number of nodes at the end."""
    information_sets: InformationSets
    kinds: Sequence[RoundKind]
    """Kinds of rounds that show the seats different views; the first is that of the nodes."""

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def slots(self) -> Ints:
        """Number of the first action of each information set among the actions of all sets, and their number."""
        return self.information_sets.slots

    @cached_property
    def set_of_slot(self) -> Ints:
        """Information set of each slot."""
        import numpy as np

        return np.repeat(np.arange(len(self.information_sets)), self.information_sets.sizes)

    @cached_property
    def slot(self) -> Ints:
        """Number of the action that leads to a node, among the actions of all sets; -1 where chance leads to it."""
        import numpy as np

        before = self.information_set[self.parent]
        slot = np.where(before >= 0, self.slots[before] + self.choice, -1)
        slot[0] = -1
        return slot

    def reach(self, policy: Floats) -> Floats:
        """Return the probability of each node, where all seats play a policy: a probability by slot."""
        import numpy as np

        probability = np.where(self.slot >= 0, policy[self.slot], self.probability)
        for layer in list(self.layers())[1:]:
            probability[layer] *= probability[self.parent[layer]]
        return probability

    def values(self, policy: Floats, payoffs: Floats) -> Floats:
        """Return the expected payoff from each node on, for payoffs by node, where all seats play a policy."""
        import numpy as np

        chance = np.where(self.slot >= 0, policy[self.slot], self.probability)
        values: Floats = np.where(self.mover == TERMINAL, payoffs, 0.0)
        layers = list(self.layers())
        for layer, above in zip(layers[:0:-1], layers[-2::-1], strict=True):
            places = self.parent[layer] - above.start
            values[above] += np.bincount(places, chance[layer] * values[layer], above.stop - above.start)
        return values

    def expected_returns(self, policy: Floats) -> tuple[Floats, float]:
        """Return the expected returns by seat and the expected number of rounds under a policy."""
        ends = self.mover == TERMINAL
        reach = self.reach(policy)[ends]
        return reach @ self.returns[ends], float(reach @ self.rounds[ends])

    @cached_property
    def digest(self) -> str:
        """Digest of all nodes and information sets: equal trees play alike."""
        import numpy as np

        digest = hashlib.blake2b(digest_size=8)
        for column in (self.parent, self.mover, self.information_set, self.probability, self.returns):
            whole = np.int64 if column.dtype.kind == "i" else np.float64  # digests are older than narrow columns
            digest.update(column.astype(whole).tobytes())
        for known in self.information_sets:
            digest.update(repr((known.seat, known.view.info_key, known.actions)).encode())
        return digest.hexdigest()

    def children(self, node: int) -> range:
        """Return the indices of a node's children, in the order of the actions."""
        first = int(self.first_child[node])
        return range(first, first + int(self.num_children[node]))

    def layers(self) -> Iterator[slice]:
        """Yield the nodes of each depth, from the root on."""
        for first, after in zip(self.depths[:-1], self.depths[1:], strict=True):
            yield slice(int(first), int(after))
