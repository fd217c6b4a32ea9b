"""Open lines of a sheet: a slot that has its line is closed, and no line leads to a dead end.

Flat choices are one slot whose options are the actions, filled once. On a sheet the lines may come in any order.
A line that several slots offer (WAIVE) takes none of them for good: the slots that are still open are those that some
way of placing the lines so far leaves free. A line may be written exactly if one of its slots is open. The rest can
then always be filled, since every slot that is left free has an option of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from stratagem.base.errors import BadParameter
from stratagem.games.choices import Choices, Flat, Sheet


class SheetLines:
    """Lines of some choices, and the slots left after writing them."""

    def __init__(self, slots: Sequence[Sequence[str]], fill: int) -> None:
        places: dict[str, int] = {}
        for index, options in enumerate(slots):
            for option in options:
                places[option] = places.get(option, 0) | 1 << index
        self.texts = tuple(places)
        self.places = tuple(places.values())
        """For each line the slots that offer it, as bits."""
        self.fill = fill
        self.every = (1 << len(slots)) - 1
        self._shares = any(bits & (bits - 1) for bits in self.places)

    @classmethod
    def of(cls, choices: Choices) -> SheetLines:
        """Return the lines of flat choices or of a sheet."""
        if isinstance(choices, Flat):
            return cls([choices.actions], 1)
        if isinstance(choices, Sheet):
            return cls([slot.options for slot in choices.slots], choices.fill)
        raise BadParameter(f"Only Flat and Sheet choices can be decoded token by token, not {type(choices).__name__}.")

    def open_after(self, written: Sequence[int]) -> int:
        """Return the slots that can still take a line, as bits, whatever the order of the others."""
        places = [self.places[line] for line in written]
        if not self._shares:
            return self.every & ~reduce(or_, places, 0)
        return _spare(places, self.every)


def _spare(slots: Sequence[int], every: int) -> int:
    """Return the slots that at least one placing of all the lines leaves free.

    From one placing: the free slots, and each slot whose line could move to a slot that can be freed.
    """
    owner = _placing(slots)
    spare = every & ~reduce(or_, (1 << slot for slot in owner), 0)
    moved = True
    while moved:
        movable = [slot for slot, line in owner.items() if not spare >> slot & 1 and slots[line] & spare]
        spare |= reduce(or_, (1 << slot for slot in movable), 0)
        moved = bool(movable)
    return spare


def _placing(slots: Sequence[int]) -> dict[int, int]:
    """Find a slot of its own for every line; return owners by slot."""
    owner: dict[int, int] = {}
    for line in range(len(slots)):
        if not _place(line, slots, owner, set()):
            raise ValueError("these lines have no place together")
    return owner


def _place(line: int, slots: Sequence[int], owner: dict[int, int], tried: set[int]) -> bool:
    """Find a slot for one line, moving others over where needed (augmenting paths of bipartite matching)."""
    for slot in _bits(slots[line]):
        if slot in tried:
            continue
        tried.add(slot)
        if slot not in owner or _place(owner[slot], slots, owner, tried):
            owner[slot] = line
            return True
    return False


def _bits(mask: int) -> list[int]:
    return [slot for slot in range(mask.bit_length()) if mask >> slot & 1]
