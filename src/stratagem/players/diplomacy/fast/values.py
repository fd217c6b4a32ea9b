"""DumbBot's values of the board on arrays: those of `appraisal.Appraisal`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.diplomacy.engine import STANDARD
from stratagem.games.diplomacy.fast.cells import NUM_POWERS, OWNER, POWER, UNIT
from stratagem.games.diplomacy.fast.chart import Chart, Ints
from stratagem.games.diplomacy.fast.compiled import compile_lazily
from stratagem.players.diplomacy.appraisal import AppraisalWeights, neighbours_of

Longs = NDArray[np.int64]
ATTACK, DEFENCE, STRENGTH, COMPETITION, GUARD, VACANT, PROXIMITY = range(7)
"""Columns of weights; those of proximity are the last."""


class Neighbourhood(NamedTuple):
    """By node, the provinces next to it, each by a node of it that can be entered from here."""

    first: NDArray[np.uint64]
    """First row of a node's provinces; the next node's is its end."""
    nodes: NDArray[np.uint64]
    """The node of a province."""
    coasts: NDArray[np.uint64]
    """Nodes next to two coasts of one province: the node, the coast that stands in `nodes`, and the other one."""


@lru_cache(maxsize=1)
def neighbourhood() -> Neighbourhood:
    """Return the neighbourhood of every node, cached; unsigned, since kernels look signed numbers up more slowly."""
    groups = neighbours_of(STANDARD).groups
    size = len(groups)
    entered = [[(int(g[0]), int(g[-1])) for g in own if g[0] < size] for own in groups]
    coasts = [(node, one, other) for node, own in enumerate(entered) for one, other in own if one != other]
    return Neighbourhood(
        np.cumsum([0, *map(len, entered)]).astype(np.uint64),
        np.array([one for own in entered for one, _ in own], np.uint64),
        np.array(coasts, np.uint64),
    )


def weights_array(seasons: Mapping[str, AppraisalWeights]) -> Longs:
    """Return the weights of spring, fall and winter as an array."""
    return np.array(
        [
            [w.attack, w.defence, w.strength, w.competition, w.guard, w.vacant, *w.proximity]
            for w in (seasons["S"], seasons["F"], seasons["W"])
        ],
        np.int64,
    )


@compile_lazily
def enterable(chart: Chart, board: Ints) -> Ints:
    """Return by power and province the number of units that could be there."""
    able = np.zeros((NUM_POWERS, board.shape[1]), np.int32)
    for p in range(board.shape[1]):
        if board[UNIT, p] >= 0:
            own, moves = able[board[POWER, p]], chart.moves[board[UNIT, p]]
            for q in range(len(own)):
                own[q] += moves[q]
            own[p] += 1
    return able


@compile_lazily
def sizes_of(chart: Chart, board: Ints) -> Longs:
    """Return the size of each power, and of all free centres together at the end."""
    counts = np.zeros(NUM_POWERS + 1, np.int64)
    for p in range(board.shape[1]):
        if chart.centers[p]:
            counts[board[OWNER, p]] += 1  # -1, nobody, is the last
    return counts * counts + 4 * counts + 16


@compile_lazily
def competition_of(able: Ints, power: int) -> Ints:
    """Return by province the largest number of units of any one other power that could be there."""
    result = np.zeros(able.shape[1], np.int32)
    for other in range(NUM_POWERS):
        if other != power:
            for p in range(len(result)):
                result[p] = max(result[p], able[other, p])
    return result


@compile_lazily
def values_of(
    chart: Chart, near: Neighbourhood, board: Ints, power: int, weights: Longs, able: Ints, rivals: Ints
) -> Longs:
    """Return the present value of each node to a power."""
    places, sizes = board.shape[1], sizes_of(chart, board)
    level_of, extra = np.zeros(places, np.int64), np.zeros(places, np.int64)
    for p in range(places):
        owner = board[OWNER, p]
        extra[p] = weights[STRENGTH] * able[power, p] - weights[COMPETITION] * rivals[p]
        if chart.centers[p] and owner != power:
            empty = board[UNIT, p] < 0 or board[POWER, p] == power
            level_of[p] = sizes[owner] * (weights[ATTACK] + (weights[VACANT] if empty else 0))
        elif owner == power:
            threat = 0
            for other in range(NUM_POWERS):
                if other != power and able[other, p]:
                    threat = max(threat, sizes[other])
            level_of[p] = threat * weights[DEFENCE]
            extra[p] += threat * weights[GUARD]
    level, total = level_of[chart.place], extra[chart.place]
    for step in range(PROXIMITY, len(weights)):
        total += weights[step] * level
        if step + 1 < len(weights):
            level = _spread(near, level)
    return total


@compile_lazily
def _spread(near: Neighbourhood, level: Longs) -> Longs:
    """Add up a node's value and the best of each province next to it, divided by five."""
    result = np.empty_like(level)
    for node in range(len(level)):
        total = level[node]
        for row in range(near.first[node], near.first[node + 1]):
            total += level[near.nodes[row]]
        result[node] = total
    for row in range(len(near.coasts)):
        node, one, other = near.coasts[row]
        result[node] += max(0, level[other] - level[one])
    for node in range(len(level)):
        result[node] //= 5
    return result
