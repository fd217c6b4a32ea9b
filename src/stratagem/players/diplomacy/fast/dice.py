"""Keyed draws in kernels: the numbers that `Key` and `Dice` give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stratagem.games.diplomacy.fast.compiled import compile_lazily

Words = NDArray[np.uint64]
"""A key and the number of its draws so far."""
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Constants of `games.key`: the kernels must give the same numbers."""
_LOW = np.uint64(0xFFFFFFFF)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@compile_lazily
def mix(x: np.uint64) -> np.uint64:
    """Mix 64 bits (splitmix64)."""
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@compile_lazily
def key_at(key: np.uint64, step: int) -> np.uint64:
    """Return the key further down by one number."""
    return mix(key + _GAMMA * np.uint64(step + 1))


@compile_lazily
def new_dice(key: np.uint64) -> Words:
    """Return the draws of a key."""
    dice = np.zeros(2, np.uint64)
    dice[0] = key
    return dice


@compile_lazily
def below(dice: Words, bound: int) -> int:
    """Draw a number from 0 to `bound` - 1."""
    dice[1] += np.uint64(1)
    x = mix(key_at(dice[0], int(dice[1])))
    width = np.uint64(bound)
    return int(((x >> _32) * width + (((x & _LOW) * width) >> _32)) >> _32)
