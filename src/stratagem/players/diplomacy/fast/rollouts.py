"""Rollouts of DumbBots from one position in one call of compiled code: the returns that `players.rollouts` gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stratagem.games.diplomacy.coasts import Coasts, lines_as_read
from stratagem.games.diplomacy.fast.array_board import ArrayBoard
from stratagem.games.diplomacy.fast.cells import (
    CLOCK,
    KIND,
    NUM_POWERS,
    OVER,
    OWNER,
    PHASE,
    POWER,
    UNIT,
    WIN,
    WINTER,
    YEAR,
)
from stratagem.games.diplomacy.fast.chart import NO, Chart, Ints, chart
from stratagem.games.diplomacy.fast.compiled import compile_lazily
from stratagem.games.diplomacy.fast.phases import count_of, play_phase
from stratagem.games.diplomacy.fast.text import orders_array
from stratagem.games.diplomacy.position import PHASES
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.players.diplomacy.appraisal import Appraisal
from stratagem.players.diplomacy.fast.bot import order
from stratagem.players.diplomacy.fast.dice import key_at
from stratagem.players.diplomacy.fast.sheets import weights_of
from stratagem.players.diplomacy.fast.values import Longs, Neighbourhood, enterable, neighbourhood
from stratagem.players.rollouts import DecisionRollouts, World

_PLACES = 1 << 10
"""The factor of turns and slots in the keys of players, as in `players.base`."""


@compile_lazily
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


@compile_lazily
def is_counted(board: Ints, until: int) -> bool:
    """Return whether a game that ends with the count of a year is over."""
    year = board[CLOCK, YEAR]
    return bool(board[CLOCK, OVER] == 1 or year > until or (year == until and board[CLOCK, PHASE] == WINTER))


@compile_lazily
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


Rules = tuple[type[Appraisal], int]
"""Values of a DumbBot, and its percentage of the next best candidate."""
_NEVER = 1 << 30
_YEAR = len(PHASES)


class CompiledRollouts:
    """Function that returns an action's return in these worlds of a batch."""

    def __init__(self, batch: DecisionRollouts, bots: Sequence[Sequence[Rules]]) -> None:
        """Take the worlds of one position of a game on the fast board, and the bot of each seat by world."""
        state = batch.worlds[0].state
        assert isinstance(state, DiplomacyState)
        assert isinstance(state.board, ArrayBoard)
        self._start, self._coasts = state.board.cells, state.game.coasts
        self._others = np.stack([_orders(world, self._coasts) for world in batch.worlds])
        self._keys = np.array([world.key.at("player").value for world in batch.worlds], np.uint64)
        self._weights = np.stack([[weights_of(appraisal) for appraisal, _ in seats] for seats in bots])
        self._strays = np.array([[strays for _, strays in seats] for seats in bots], np.int64)
        self._limits = state.game.until, _NEVER if batch.until is None else batch.until
        self._batch = batch

    def __call__(self, action: str, which: slice = slice(None)) -> list[float]:
        own = orders_array(lines_as_read(action.split("\n"), self._coasts))
        orders = np.where(own[:, KIND, None] > 0, own, self._others[which])
        until, clock = self._limits
        returns = returns_of(
            chart(),
            neighbourhood(),
            self._start,
            orders,
            self._keys[which],
            self._batch.turn + 1,
            until,
            clock,
            self._batch.seat,
            self._weights[which],
            self._strays[which],
        )
        return list(returns.tolist())


def _orders(world: World, coasts: Coasts) -> Ints:
    """Return the orders of the other seats now."""
    state, lines = world.state, list[str]()
    for seat, action in world.moves.items():
        given = state.game.default_action(state.view(seat).facts) if action is None else action
        lines += given.split("\n")
    return orders_array(lines_as_read(lines, coasts))


@compile_lazily
def returns_of(
    chart: Chart,
    near: Neighbourhood,
    start: Ints,
    orders: Ints,
    keys: NDArray[np.uint64],
    turn: int,
    until: int,
    clock: int,
    power: int,
    weights: Longs,
    alternatives: Longs,
) -> NDArray[np.float64]:
    """Return a power's share of the sum of squares in each world, after these orders and then DumbBots.

    A world is played on from the turn after the orders, until the count of the year `until` or the phase `clock`.
    """
    returns, result = np.zeros(len(keys)), np.zeros(start.shape[1], np.int32)
    for world in range(len(keys)):
        board, now = start.copy(), turn
        play_phase(chart, board, orders[world].copy(), result)
        while not is_counted(board, until) and board[CLOCK, YEAR] * _YEAR + board[CLOCK, PHASE] < clock:
            play_turn(chart, near, board, keys[world], now, weights[world], alternatives[world])
            now += 1
        returns[world] = share_of(board, power, is_counted(board, until))
    return returns


@compile_lazily
def share_of(board: Ints, power: int, ended: bool) -> float:
    """Return a power's share of the sum of squares; before the end a unit in a centre owns it."""
    counts, total, most, winners = np.zeros(NUM_POWERS, np.int64), 0, 0, 0
    for p in range(board.shape[1]):
        owner = board[OWNER, p]
        if not ended and owner >= NO and board[UNIT, p] >= 0:
            owner = board[POWER, p]
        if owner >= 0:
            counts[owner] += 1
    for other in range(NUM_POWERS):
        total += counts[other] * counts[other]
        most = max(most, counts[other])
    for other in range(NUM_POWERS):
        winners += counts[other] == most
    if (board[CLOCK, OVER] == 1) if ended else (most >= WIN and winners == 1):
        return 1.0 if counts[power] == most else 0.0
    return counts[power] * counts[power] / total if total else 1.0 / NUM_POWERS
