"""Phases of a year on the fast board: retreats, adjustments, the count of centres, and which phase comes next."""

from __future__ import annotations

import numpy as np

from stratagem.games.diplomacy.fast.cells import (
    BOUNCE,
    BUILD,
    CLOCK,
    DISBAND,
    DISBANDED,
    FALL_RETREATS,
    KIND,
    LOSER,
    LOST,
    NUM_POWERS,
    OVER,
    OWNER,
    PHASE,
    POWER,
    REFUGES,
    RETREAT,
    SPRING,
    SPRING_RETREATS,
    UNIT,
    WHERE,
    WHOM,
    WIN,
    WINTER,
    YEAR,
)
from stratagem.games.diplomacy.fast.chart import NO, Chart, Ints
from stratagem.games.diplomacy.fast.clash import resolve_moves
from stratagem.games.diplomacy.fast.compiled import compile_lazily


@compile_lazily
def play_phase(chart: Chart, board: Ints, orders: Ints, result: Ints) -> None:
    """Play a phase with these orders, in place, and go on to the next phase in which somebody has to act."""
    phase = board[CLOCK, PHASE]
    result[:] = 0
    if phase == WINTER:
        adjust(chart, board, orders)
    elif phase in (SPRING_RETREATS, FALL_RETREATS):
        retreat(board, orders, result)
    else:
        resolve_moves(chart, board, orders, result)
    _advance(chart, board)


@compile_lazily
def retreat(board: Ints, orders: Ints, result: Ints) -> None:
    """Play the retreats: units that retreat to one province, and those without a retreat, disband."""
    places = board.shape[1]
    going = np.zeros(places, np.int32)
    for p in range(places):
        if board[LOST, p] >= 0 and orders[p, KIND] == RETREAT:
            going[orders[p, WHERE]] += 1
    for p in range(places):
        if board[LOST, p] < 0:
            continue
        if orders[p, KIND] != RETREAT:
            result[p] = DISBANDED
        elif going[orders[p, WHERE]] > 1:
            result[p] = BOUNCE | DISBANDED
        else:
            board[UNIT, orders[p, WHERE]] = orders[p, WHOM]
            board[POWER, orders[p, WHERE]] = board[LOSER, p]
    board[LOST, :] = NO
    board[LOSER, :] = NO
    board[REFUGES, :] = 0


@compile_lazily
def adjust(chart: Chart, board: Ints, orders: Ints) -> None:
    """Play the builds and removals; where a power orders fewer removals than are due, it loses other units too."""
    for p in range(board.shape[1]):
        if orders[p, KIND] == BUILD:
            board[UNIT, p] = orders[p, WHOM]
            board[POWER, p] = board[OWNER, p]
        elif orders[p, KIND] == DISBAND:
            _remove(board, p)
    for power in range(NUM_POWERS):
        for _ in range(count_of(board[POWER], power) - count_of(board[OWNER], power)):
            _remove(board, _farthest(chart, board, power))


@compile_lazily
def _remove(board: Ints, p: int) -> None:
    """Remove the unit of a province."""
    board[UNIT, p] = NO
    board[POWER, p] = NO


@compile_lazily
def _farthest(chart: Chart, board: Ints, power: int) -> int:
    """Return the province of the unit that a power in civil disorder loses first.

    It is the farthest from home, a fleet rather than an army, and then the first by name.
    """
    first, most = NO, -1
    for p in range(board.shape[1]):
        if board[POWER, p] == power:
            node = board[UNIT, p]
            rank = 2 * chart.from_home[node, power] + chart.fleet[node]
            if rank > most:  # provinces are in the order of their names, so the first of equals stays
                first, most = p, rank
    return first


@compile_lazily
def count_of(row: Ints, power: int) -> int:
    """Return how often a power stands in a row of the board."""
    count = 0
    for p in range(len(row)):
        count += row[p] == power
    return count


@compile_lazily
def free_homes(chart: Chart, board: Ints, power: int) -> int:
    """Return the number of home centres in which a power can build."""
    count = 0
    for p in range(board.shape[1]):
        count += chart.homes[p] == power and board[OWNER, p] == power and board[UNIT, p] < 0
    return count


@compile_lazily
def due(chart: Chart, board: Ints, power: int) -> int:
    """Return the number of units that a power can build now, or must remove where it is negative."""
    missing = count_of(board[OWNER], power) - count_of(board[POWER], power)
    return min(missing, free_homes(chart, board, power)) if missing > 0 else missing


@compile_lazily
def _advance(chart: Chart, board: Ints) -> None:
    """Go on to the next phase that is not empty; centres change hands before Winter."""
    clock = board[CLOCK]
    while True:
        clock[PHASE] += 1
        if clock[PHASE] > WINTER:
            clock[PHASE] = SPRING
            clock[YEAR] += 1
        if clock[PHASE] == WINTER:
            _capture(board)
            if clock[OVER]:
                return
            for power in range(NUM_POWERS):
                if due(chart, board, power) != 0:
                    return
        elif clock[PHASE] in (SPRING_RETREATS, FALL_RETREATS):
            for p in range(board.shape[1]):
                if board[LOST, p] >= 0:
                    return
        else:
            return


@compile_lazily
def _capture(board: Ints) -> None:
    """Give the centres to the units that stand in them, and end the game if somebody has won."""
    before = np.zeros(NUM_POWERS, np.int32)
    after = np.zeros(NUM_POWERS, np.int32)
    for p in range(board.shape[1]):
        if board[OWNER, p] >= 0:
            before[board[OWNER, p]] += 1
    for p in range(board.shape[1]):
        if board[OWNER, p] >= NO and board[UNIT, p] >= 0:
            board[OWNER, p] = board[POWER, p]
        if board[OWNER, p] >= 0:
            after[board[OWNER, p]] += 1
    for power in range(NUM_POWERS):
        if after[power] >= WIN and after[power] > before[power]:
            alone = True
            for other in range(NUM_POWERS):
                alone = alone and (other == power or after[other] < after[power])
            if alone:
                board[CLOCK, OVER] = 1
