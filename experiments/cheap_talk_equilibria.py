"""Equilibria of the sender-receiver game on its grid, by enumeration.

In an equilibrium in which the receiver answers each message by one action, a message is no more than that action: the
sender chooses among the actions that some message brings about. So an equilibrium is a set of actions, and a choice
among the nearest of them to s + b in each state s, such that the mean state of those who choose an action is within a
quarter of it, half a step of the grid. A state between two nearest actions may mix. For a set of actions the mixtures
are a polytope, and the information of the state in the action is convex on it, so its vertices have the most.

Left out are equilibria in which the receiver mixes, which it can do only where the mean lies halfway between two
actions. Messages of which the receiver makes nothing are not counted either: at any bias, a sender whose action is
always the middle may send STATE 0 in the states 0 and 5, and STATE 1 in the others, and the message tells about the
state what nobody acts upon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

Channel = tuple[tuple[float, ...], ...]
"""Probability of each action of the grid in each state."""
_HALF_STEP, _CLOSE = 0.25, 1e-9


@dataclass(frozen=True)
class GridEquilibrium:
    """Equilibrium of the game on the grid: what the sender brings about in each state."""

    channel: Channel

    @property
    def information(self) -> float:
        """Mutual information of the state and the action, in nats."""
        return channel_information(self.channel)

    @property
    def blocks(self) -> tuple[int, ...] | None:
        """Number of the block of each state, the block of state 0 first; None where a state mixes."""
        if any(max(row) < 1.0 - _CLOSE for row in self.channel):
            return None
        return numbered([row.index(max(row)) for row in self.channel])


def numbered(actions: Sequence[float]) -> tuple[int, ...]:
    """Return the number of the block of each state, given the action in it; blocks are numbered as they come."""
    known: dict[float, int] = {}
    return tuple(known.setdefault(action, len(known)) for action in actions)


def channel_information(channel: Sequence[Sequence[float]]) -> float:
    """Compute the mutual information of equally likely states and the outcomes of a channel, in nats."""
    means = [math.fsum(column) / len(channel) for column in zip(*channel, strict=True)]
    terms = (p * math.log(p / mean) for row in channel for p, mean in zip(row, means, strict=True) if p > 0.0)
    return max(0.0, math.fsum(terms) / len(channel))


@lru_cache(maxsize=64)
def grid_equilibria(states: int, bias: float) -> tuple[GridEquilibrium, ...]:
    """Return the equilibria without a mixing receiver: all without a mixing sender, and the vertices of the others."""
    grid = [number / 2.0 for number in range(2 * states - 1)]
    sets = chain.from_iterable(combinations(range(len(grid)), size) for size in range(1, len(grid) + 1))
    found = dict.fromkeys(channel for chosen in sets for channel in _channels(grid, chosen, states, bias))
    return tuple(map(GridEquilibrium, found))


def most_informative(states: int, bias: float) -> float:
    """Return the largest information of the state in the action over these equilibria, in nats."""
    return max(equilibrium.information for equilibrium in grid_equilibria(states, bias))


def _channels(grid: Sequence[float], chosen: Sequence[int], states: int, bias: float) -> Iterator[Channel]:
    """Yield the channels of the equilibria in which these actions of the grid, and no others, are brought about."""
    nearest = [_nearest([grid[index] for index in chosen], state + bias) for state in range(states)]
    if {column for columns in nearest for column in columns} != set(range(len(chosen))):
        return  # an action that no state wants
    ties = [state for state, columns in enumerate(nearest) if len(columns) == 2]
    base = np.zeros((states, len(chosen)))
    for state, columns in enumerate(nearest):
        base[state, columns[0]] = 1.0
    moves = np.zeros((len(ties), states, len(chosen)))
    for number, state in enumerate(ties):
        moves[number, state, nearest[state][0]], moves[number, state, nearest[state][1]] = -1.0, 1.0
    offsets = np.arange(states)[:, None] - np.array([grid[index] for index in chosen])[None, :]
    # the distance of the mean from the action is at most half a step: two linear conditions for each action
    slack = np.concatenate([_HALF_STEP - offsets, _HALF_STEP + offsets], axis=1)

    def doubled(masses: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = (np.concatenate([masses, masses], axis=-1) * slack).sum(axis=-2)
        return sums

    constants, slopes = doubled(base), doubled(moves)
    for weights in _vertices(constants, slopes):
        channel = base + np.tensordot(weights, moves, axes=1)
        if (channel.sum(axis=0) > _CLOSE).all():
            row = np.zeros((states, len(grid)))
            row[:, list(chosen)] = channel
            yield tuple(tuple(float(p) for p in np.round(line, 9)) for line in row)


def _nearest(actions: Sequence[float], wanted: float) -> list[int]:
    """Return the places of the one or two nearest actions."""
    distances = [abs(action - wanted) for action in actions]
    return [place for place, distance in enumerate(distances) if distance <= min(distances) + _CLOSE]


def _vertices(constants: np.ndarray, slopes: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the vertices of `0 <= w <= 1, constants + w slopes >= 0`."""
    count = len(slopes)
    left = np.concatenate([np.eye(count), -np.eye(count), slopes.T])
    right = np.concatenate([np.zeros(count), np.ones(count), constants])
    if not count:
        if (constants >= -_CLOSE).all():
            yield np.zeros(0)
        return
    for rows in combinations(range(len(left)), count):
        matrix = left[list(rows)]
        if abs(np.linalg.det(matrix)) < _CLOSE:
            continue
        weights = np.linalg.solve(matrix, -right[list(rows)])
        if (left @ weights + right >= -_CLOSE).all():
            yield np.clip(weights, 0.0, 1.0)
