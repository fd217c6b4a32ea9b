"""Keyed chance: a draw is a function of where it happens, never of a running generator.

`Key(7).at("deal", 3).integer(52)` is the same number on every machine, in every process and in any order of play, so
paired deals, forks and resumed runs see the same cards whatever the players did. One key is one draw: ask a longer
path for the next. The mixing function is splitmix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

_MASK = 0xFFFFFFFFFFFFFFFF
_GAMMA = 0x9E3779B97F4A7C15
"""Increment of splitmix64: 2^64 over the golden ratio, and odd, so that its multiples are all different."""
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Multipliers of the mixing function; `Key` has them written out, since a literal is read faster than a name."""
_new = object.__new__


class Chance(Protocol):
    """Source of a state's draws: a `Key` in play, an enumerating source in exact evaluation."""

    def at(self, *path: int | str) -> Chance:
        """Return the source of one draw, named by its path in the game."""
        ...

    def integer(self, bound: int) -> int:
        """Draw a whole number from 0 to `bound - 1` uniformly."""
        ...

    def choose(self, weights: Sequence[float]) -> int:
        """Draw an index with probability proportional to its weight."""
        ...


class Key:
    """Node in the tree of seeds; immutable, cheap to make, and all its draws follow from its 64 bits."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value & _MASK

    def at(self, *path: int | str) -> Key:
        """Return the key further down: `key.at("round", 2)`."""
        x = self.value
        for step in path:  # `_mix`, written out here and below, since a call costs as much as the arithmetic
            x = (x + (_leap(step) if isinstance(step, str) else 0x9E3779B97F4A7C15 * (step + 1))) & 0xFFFFFFFFFFFFFFFF
            x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
            x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
            x ^= x >> 31
        key = _new(Key)
        key.value = x
        return key

    def integer(self, bound: int) -> int:
        """Draw a whole number from 0 to `bound - 1`; the bias is below `bound` in 2**64."""
        x = self.value
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return ((x ^ (x >> 31)) * bound) >> 64

    def unit(self) -> float:
        """Draw a number from [0, 1)."""
        return (_mix(self.value) >> 11) * 2.0**-53

    def choose(self, weights: Sequence[float]) -> int:
        """Draw an index with probability proportional to its weight; the weights need not sum to one."""
        total = sum(weights)
        if not total > 0.0:
            raise ValueError(f"among the weights {weights} nothing can be chosen")
        point, last = self.unit() * total, 0
        for index, weight in enumerate(weights):
            if weight > 0.0:
                if point < weight:
                    return index
                last = index
            point -= weight
        return last

    def rng(self) -> random.Random:
        """Return a generator for players that need many draws.

        Costs some microseconds, so ask for it only when used.
        """
        return random.Random(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Key({self.value:#018x})"


def _mix(x: int) -> int:
    x &= _MASK
    x = ((x ^ (x >> 30)) * _FIRST) & _MASK
    x = ((x ^ (x >> 27)) * _SECOND) & _MASK
    return x ^ (x >> 31)


@lru_cache(maxsize=4096)
def _leap(text: str) -> int:
    """Return what a word of a path adds."""
    return _GAMMA * int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
