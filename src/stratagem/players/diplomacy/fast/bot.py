"""DumbBot's orders of any phase on arrays: those of `dumbbot.DumbBot`."""

from __future__ import annotations

import numpy as np

from stratagem.games.diplomacy.fast.cells import (
    BUILD,
    CLOCK,
    DISBAND,
    FALL,
    KIND,
    LOSER,
    LOST,
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
    WINTER,
)
from stratagem.games.diplomacy.fast.chart import Chart, Ints
from stratagem.games.diplomacy.fast.compiled import compile_lazily
from stratagem.games.diplomacy.fast.phases import count_of, due
from stratagem.players.diplomacy.fast.dice import Words, below, new_dice
from stratagem.players.diplomacy.fast.march import march
from stratagem.players.diplomacy.fast.picks import pick, rank, without
from stratagem.players.diplomacy.fast.values import Longs, Neighbourhood, competition_of, enterable, values_of


@compile_lazily
def order(
    chart: Chart,
    near: Neighbourhood,
    board: Ints,
    power: int,
    key: np.uint64,
    weights: Longs,
    alternative: int,
    able: Ints,
    orders: Ints,
) -> bool:
    """Write the orders of a power for this phase; `able` is what `enterable` gives.

    False where a retreat that it wants is not possible, so that all its dislodged units disband.
    """
    phase, dice = board[CLOCK, PHASE], new_dice(key)
    if _is_idle(chart, board, power):
        return True
    season = 0 if phase <= SPRING_RETREATS else 2 if phase == WINTER else 1
    rivals = competition_of(able, power)
    values = values_of(chart, near, board, power, weights[season], able, rivals)
    if phase in (SPRING, FALL):
        march(chart, board, power, values, rivals, dice, alternative, orders)
    elif phase != WINTER:
        return _retreat(chart, board, power, values, dice, alternative, orders)
    else:
        number = due(chart, board, power)
        if number < 0:
            _remove(board, power, -number, values, dice, alternative, orders)
        else:
            _build(chart, board, power, number, values, dice, alternative, orders)
    return True


@compile_lazily
def _is_idle(chart: Chart, board: Ints, power: int) -> bool:
    """Return whether a power has nothing to order, so that no value is needed."""
    phase = board[CLOCK, PHASE]
    if phase == WINTER:
        return bool(due(chart, board, power) == 0)
    return bool(count_of(board[POWER if phase in (SPRING, FALL) else LOSER], power) == 0)


@compile_lazily
def _retreat(chart: Chart, board: Ints, power: int, values: Longs, dice: Words, alternative: int, orders: Ints) -> bool:
    """Retreat, never two to one province; if one retreat turns out to be impossible, all units disband."""
    places = board.shape[1]
    taken, possible = np.zeros(places, np.int32), True
    for kind in range(2):  # armies first
        for p in range(places):
            if board[LOST, p] < 0 or board[LOSER, p] != power or chart.fleet[board[LOST, p]] != kind:
                continue
            reach, number = chart.reach[board[LOST, p]], 0
            nodes = np.empty(len(reach), np.int32)
            for index in range(len(reach)):
                if board[REFUGES, p] >> index & 1 and not taken[chart.place[reach[index]]]:
                    nodes[number] = reach[index]
                    number += 1
            orders[p, KIND] = DISBAND
            if number:
                free = nodes[:number]
                rank(free, values)
                node = free[pick(free, values, dice, alternative)]
                to = chart.place[node]
                taken[to] = 1
                orders[p, KIND], orders[p, WHOM], orders[p, WHERE] = RETREAT, node, to
                possible = possible and board[UNIT, to] < 0
    if not possible:
        for p in range(places):
            if board[LOST, p] >= 0 and board[LOSER, p] == power:
                orders[p, KIND] = DISBAND
    return possible


@compile_lazily
def _remove(board: Ints, power: int, number: int, values: Longs, dice: Words, alternative: int, orders: Ints) -> None:
    """Remove from the worst unit up, each passed over with a fixed probability."""
    places = board.shape[1]
    found, count = np.empty(places, np.int32), 0
    for p in range(places):
        if board[UNIT, p] >= 0 and board[POWER, p] == power:
            found[count] = board[UNIT, p]
            count += 1
    left = found[:count]
    rank(left, values)
    left = left[::-1].copy()
    for _ in range(number):
        index = 0
        while alternative > 0 and index + 1 < len(left) and below(dice, 100) < alternative:
            index += 1
        for p in range(places):
            if board[UNIT, p] == left[index]:
                orders[p, KIND] = DISBAND
        left = without(left, index)


@compile_lazily
def _build(
    chart: Chart, board: Ints, power: int, number: int, values: Longs, dice: Words, alternative: int, orders: Ints
) -> None:
    """Build one unit a province, where it has the greatest value."""
    for _ in range(number):
        nodes, count = np.empty(len(chart.place), np.int32), 0
        for p in range(board.shape[1]):
            if chart.homes[p] == power and board[OWNER, p] == power and board[UNIT, p] < 0 and orders[p, KIND] == 0:
                for node in chart.nodes[p]:
                    if node >= 0:
                        nodes[count] = node
                        count += 1
        free = nodes[:count]
        rank(free, values)
        node = free[pick(free, values, dice, alternative)]
        orders[chart.place[node], KIND], orders[chart.place[node], WHOM] = BUILD, node


@compile_lazily
def order_alone(
    chart: Chart, near: Neighbourhood, board: Ints, power: int, key: np.uint64, weights: Longs, alternative: int
) -> tuple[Ints, bool]:
    """Return the orders of one power, and whether they are possible."""
    orders = np.zeros((board.shape[1], 4), np.int32)
    possible = order(chart, near, board, power, key, weights, alternative, enterable(chart, board), orders)
    return orders, possible
