"""Information sets of a game tree: columns, and the view of each, made again by replay when it is asked for.

A tree of millions of nodes cannot keep the states that it was walked through. So a set keeps the number of its first
node, and the moves on the way there make the state again. Sets that are neighbours are made together, since their ways
have most moves in common.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from stratagem.games.base import Game, Place, Positions, Seat, SetOptions, State, View
from stratagem.games.positions import places_after, positions_of

if TYPE_CHECKING:
    import numpy as np

    Ints = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

SETS_AT_ONCE = 128
"""Sets that are made at once."""
MOST_GROUPS = 512
"""Groups of sets whose states are kept: 65,536 sets, some 50 MB."""


class InformationSet:
    """Situations that a seat cannot tell apart."""

    __slots__ = ("_number", "_sets", "actions", "before", "seat", "turn")

    def __init__(self, sets: InformationSets, number: int) -> None:
        self._sets = sets
        self._number = number
        columns = sets.columns
        slot = int(columns.before[number])
        self.seat: Seat = int(columns.seat[number])
        self.actions: tuple[str, ...] = columns.options[columns.option[number]].actions
        self.before: tuple[int, int] | None = sets.set_and_action(slot) if slot >= 0 else None
        """Index of the seat's last information set before this one, and of its action there."""
        self.turn = int(columns.turn[number])
        """Number of turns before it in the game, or in its round."""

    @property
    def view(self) -> View[Any]:
        """View of the seat, at the first node of the set."""
        return self._sets.shown(self._number)[1]

    @property
    def state(self) -> State[Any]:
        """State at that node; it is forked, never played on."""
        return self._sets.shown(self._number)[0]


@dataclass(frozen=True, eq=False)
class SetColumns:
    """Information sets of a tree, by their numbers."""

    seat: Ints
    before: Ints
    """Slot of the seat's last action before the set; -1 at its first set."""
    turn: Ints
    option: Ints
    """Index of what may be chosen."""
    node: Ints
    """First node of the set."""
    options: Sequence[SetOptions]


@dataclass(frozen=True, eq=False)
class InformationSets(Sequence[InformationSet]):
    """Information sets of a tree, in the order in which a walk by breadth meets them."""

    game: Game[Any]
    round_number: int | None
    """Number of the round that was walked; None for a whole game."""
    columns: SetColumns
    parent: Ints
    """Parent of each node of the tree."""
    choice: Ints
    """Action or outcome that leads from there to the node."""
    information_set: Ints
    """Information set of each node; -1 where no seat moves."""
    _shown: OrderedDict[int, list[tuple[State[Any], View[Any]]]] = field(default_factory=OrderedDict, repr=False)

    def __len__(self) -> int:
        return len(self.columns.seat)

    @overload
    def __getitem__(self, number: int) -> InformationSet: ...

    @overload
    def __getitem__(self, number: slice) -> list[InformationSet]: ...

    def __getitem__(self, number: int | slice) -> InformationSet | list[InformationSet]:
        if isinstance(number, slice):
            return [InformationSet(self, one) for one in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(f"There are {len(self)} information sets, and no number {number}.")
        return InformationSet(self, int(number) % len(self))

    def __iter__(self) -> Iterator[InformationSet]:
        return (InformationSet(self, number) for number in range(len(self)))

    @cached_property
    def sizes(self) -> Ints:
        """Number of actions of each set."""
        import numpy as np

        return np.array([len(one.actions) for one in self.columns.options], dtype=np.int64)[self.columns.option]

    @cached_property
    def slots(self) -> Ints:
        """Number of the first action of each set among the actions of all sets, and their number."""
        import numpy as np

        return np.concatenate([[0], np.cumsum(self.sizes)])

    def set_and_action(self, slot: int) -> tuple[int, int]:
        """Return the set of a slot, and the number of its action there."""
        import numpy as np

        number = int(np.searchsorted(self.slots, slot, side="right")) - 1
        return number, slot - int(self.slots[number])

    def shown(self, number: int) -> tuple[State[Any], View[Any]]:
        """Return the state at the first node of a set, and the view of its seat."""
        group, place = divmod(number, SETS_AT_ONCE)
        if (made := self._shown.get(group)) is None:  # asked once: another thread may drop it
            made = self._shown[group] = self._show(
                range(group * SETS_AT_ONCE, min(len(self), (group + 1) * SETS_AT_ONCE))
            )
            if len(self._shown) > MOST_GROUPS:
                self._shown.popitem(last=False)
        return made[place]

    @cached_property
    def _positions(self) -> Positions:
        return positions_of(self.game, self.round_number)

    def _show(self, numbers: Sequence[int]) -> list[tuple[State[Any], View[Any]]]:
        """Play the moves that lead to some sets, each once."""
        known = {0: self._positions.start()}
        shown = []
        for number in numbers:
            node = int(self.columns.node[number])
            state = self._positions.state(self._reach_node(node, known)[0])
            shown.append((state, state.view(int(self.columns.seat[number]))))
        return shown

    def _reach_node(self, node: int, known: dict[int, Place]) -> Place:
        """Return the place of a node, and keep those on the way."""
        way = []
        while node not in known:
            way.append(node)
            node = int(self.parent[node])
        place = known[node]
        for child in reversed(way):
            choice, number = int(self.choice[child]), int(self.information_set[node])
            if number < 0:
                place = place[0][choice][1]
            else:
                moves = self.columns.options[self.columns.option[number]].moves
                place = places_after(self._positions, place, moves[choice : choice + 1])[0]
            known[child], node = place, child
        return place
