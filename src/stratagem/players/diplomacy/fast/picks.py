"""DumbBot's ranking of nodes and its random pick among them, on arrays."""

from __future__ import annotations

import numpy as np

from stratagem.games.diplomacy.fast.chart import Ints
from stratagem.games.diplomacy.fast.compiled import compile_lazily
from stratagem.players.diplomacy.fast.dice import Words, below
from stratagem.players.diplomacy.fast.values import Longs

STEEPNESS = 500
"""Percentage by which the probability of the next best declines with the gap in value."""


@compile_lazily
def rank(nodes: Ints, values: Longs) -> None:
    """Sort nodes in place, the best first; ties in alphabetical order."""
    for index in range(1, len(nodes)):
        node, place = nodes[index], index
        while place > 0 and (
            values[nodes[place - 1]] < values[node]
            or (values[nodes[place - 1]] == values[node] and nodes[place - 1] > node)
        ):
            nodes[place] = nodes[place - 1]
            place -= 1
        nodes[place] = node


@compile_lazily
def pick(nodes: Ints, values: Longs, dice: Words, alternative: int) -> int:
    """Return the index of a picked node among ranked ones; `alternative` is the percentage of the next best."""
    index = 0
    while alternative > 0 and index + 1 < len(nodes):
        here, after = values[nodes[index]], values[nodes[index + 1]]
        if below(dice, 100) >= alternative:
            break
        if below(dice, 100) * here < STEEPNESS * (here - after):
            break
        index += 1
    return index


@compile_lazily
def without(nodes: Ints, index: int) -> Ints:
    """Return the nodes without one of them."""
    left = np.empty(len(nodes) - 1, np.int32)
    left[:index] = nodes[:index]
    left[index:] = nodes[index + 1 :]
    return left
