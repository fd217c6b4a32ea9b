"""Whole games of DumbBots in one kernel, one seat with other weights than the six others: for a search of weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stratagem.games.diplomacy.fast.cells import CLOCK, NUM_POWERS, OVER, OWNER, PHASE, WINTER, YEAR
from stratagem.games.diplomacy.fast.chart import Chart, Ints
from stratagem.games.diplomacy.fast.compiled import compiled
from stratagem.games.diplomacy.fast.phases import count_of, play_phase
from stratagem.players.diplomacy.fast.bot import order
from stratagem.players.diplomacy.fast.dice import key_at
from stratagem.players.diplomacy.fast.values import Longs, Neighbourhood, enterable

_PLACES = 1 << 10
"""The factor of turns and slots in the keys of players, as in `players.base`."""


@compiled
def play_turn(
    chart: Chart, near: Neighbourhood, board: Ints, key: np.uint64, turn: int, weights: Longs, alternatives: Longs
) -> None:
    """Play one phase in place, each power by its own weights; `key` is that of the players of a table."""
    orders = np.zeros((board.shape[1], 4), np.int32)
    result = np.zeros(board.shape[1], np.int32)
    able = enterable(chart, board)
    for power in range(NUM_POWERS):
        own = key_at(key, (turn * _PLACES + power) * _PLACES)
        order(chart, near, board, power, own, weights[power], alternatives[power], able, orders)
    play_phase(chart, board, orders, result)


@compiled
def is_counted(board: Ints, until: int) -> bool:
    """Return whether a game that ends with the count of a year is over."""
    year = board[CLOCK, YEAR]
    return bool(board[CLOCK, OVER] == 1 or year > until or (year == until and board[CLOCK, PHASE] == WINTER))


@compiled
def play_games(
    chart: Chart,
    near: Neighbourhood,
    start: Ints,
    keys: NDArray[np.uint64],
    seats: Ints,
    until: Ints,
    weights: Longs,
    alternatives: Longs,
) -> Ints:
    """Return the centres of each power at the end of each game, and then the winner of a solo or -1.

    The power `seats[game]` plays by the first weights, the six others by the second.
    """
    scores = np.zeros((len(keys), NUM_POWERS + 1), np.int32)
    for game in range(len(keys)):
        board = start.copy()
        bots = np.ones(NUM_POWERS, np.int64)
        bots[seats[game]] = 0
        turn = 0
        while not is_counted(board, until[game]):
            play_turn(chart, near, board, keys[game], turn, weights[bots], alternatives[bots])
            turn += 1
        most = 0
        for power in range(NUM_POWERS):
            scores[game, power] = count_of(board[OWNER], power)
            if scores[game, power] > scores[game, most]:
                most = power
        scores[game, NUM_POWERS] = most if board[CLOCK, OVER] else -1
    return scores
