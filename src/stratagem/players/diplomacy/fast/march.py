"""DumbBot's orders of a movement phase on arrays: those of `campaign.Campaign`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stratagem.games.diplomacy.fast.cells import HOLD, KIND, MOVE, POWER, SUPPORT_HOLD, SUPPORT_MOVE, UNIT
from stratagem.games.diplomacy.fast.chart import NO, Chart, Ints
from stratagem.games.diplomacy.fast.compiled import compile_lazily
from stratagem.players.diplomacy.fast.dice import Words, below
from stratagem.players.diplomacy.fast.picks import pick, rank, without
from stratagem.players.diplomacy.fast.values import Longs


class MarchArrays(NamedTuple):
    """Working arrays of one power's movement phase, by province."""

    unit: Ints
    """Node of an own unit, else -1."""
    goes: Ints
    """By province of a decided unit, the node where it will be."""
    entered: Ints
    """Province of the own unit that enters."""
    rivals: Ints
    orders: Ints


@compile_lazily
def march(
    chart: Chart, board: Ints, power: int, values: Longs, rivals: Ints, dice: Words, alternative: int, orders: Ints
) -> None:
    """Write the order of every unit of a power."""
    places = board.shape[1]
    m = MarchArrays(
        np.full(places, NO, np.int32), np.full(places, NO, np.int32), np.full(places, NO, np.int32), rivals, orders
    )
    left, count = np.empty(places, np.int32), 0
    for p in range(places):
        if board[UNIT, p] >= 0 and board[POWER, p] == power:
            m.unit[p] = board[UNIT, p]
            left[count] = p
            count += 1
    queue = _shuffle_provinces(left[:count], dice)
    patience = 4 * count
    while count:
        patience -= 1
        place = queue[0]
        count -= 1
        for index in range(count):
            queue[index] = queue[index + 1]
        awaited = _decide(chart, m, place, values, dice, alternative, patience > 0)
        if awaited >= 0:
            _put_after(queue, count, place, awaited)
            count += 1
    _stay_useful(chart, m, values)


@compile_lazily
def _shuffle_provinces(left: Ints, dice: Words) -> Ints:
    """Shuffle provinces."""
    result = np.empty(len(left), np.int32)
    for index in range(len(result)):
        drawn = below(dice, len(left))
        result[index] = left[drawn]
        left = without(left, drawn)
    return result


@compile_lazily
def _put_after(queue: Ints, count: int, place: int, awaited: int) -> None:
    """Put a province into the queue just after another one."""
    index = count
    while queue[index - 1] != awaited:
        queue[index] = queue[index - 1]
        index -= 1
    queue[index] = place


@compile_lazily
def _decide(
    chart: Chart, m: MarchArrays, place: int, values: Longs, dice: Words, alternative: int, can_wait: bool
) -> int:
    """Give an order to the unit of a province, or return the province whose order it waits for."""
    unit = m.unit[place]
    reach = chart.reach[unit]
    number = 0
    while reach[number] >= 0:
        number += 1
    nodes = np.empty(number + 1, np.int32)
    nodes[:number] = reach[:number]
    nodes[number] = unit
    values[unit] += 1
    rank(nodes, values)
    while len(nodes):
        index = pick(nodes, values, dice, alternative)
        target = chart.place[nodes[index]]
        if target == place:
            break
        if m.unit[target] >= 0 and m.goes[target] < 0:
            if can_wait:
                values[unit] -= 1
                return int(target)
        elif _try(chart, m, place, nodes[index], target):
            values[unit] -= 1
            return NO
        nodes = without(nodes, index)
    values[unit] -= 1
    m.goes[place] = unit
    m.orders[place, KIND] = HOLD
    return NO


@compile_lazily
def _try(chart: Chart, m: MarchArrays, place: int, node: int, target: int) -> bool:
    """Move there, or support the unit that is or will be there under threat; False if neither makes sense."""
    if m.unit[target] >= 0 and chart.place[m.goes[target]] == target:
        return m.rivals[target] > 1 and _support_hold(chart, m, place, target)
    if m.entered[target] >= 0:
        return m.rivals[target] > 0 and _support_move(chart, m, place, target)
    m.goes[place] = node
    m.entered[target] = place
    _order(m.orders, place, MOVE, node, target, 0)
    return True


@compile_lazily
def _order(orders: Ints, place: int, kind: int, whom: int, where: int, extra: int) -> None:
    """Write an order."""
    orders[place, 0] = kind
    orders[place, 1] = whom
    orders[place, 2] = where
    orders[place, 3] = extra


@compile_lazily
def _support_hold(chart: Chart, m: MarchArrays, place: int, target: int) -> bool:
    """Support the own unit that stays at a province, where that is possible."""
    if not chart.helps[m.unit[place], target]:
        return False
    m.goes[place] = m.unit[place]
    _order(m.orders, place, SUPPORT_HOLD, target, target, NO)
    return True


@compile_lazily
def _support_move(chart: Chart, m: MarchArrays, place: int, target: int) -> bool:
    """Support the own unit that enters a province, where that is possible."""
    if not chart.helps[m.unit[place], target]:
        return False
    mover = m.entered[target]
    m.goes[place] = m.unit[place]
    _order(m.orders, place, SUPPORT_MOVE, mover, target, chart.coast[m.goes[mover]])
    return True


@compile_lazily
def _stay_useful(chart: Chart, m: MarchArrays, values: Longs) -> None:
    """Let units that hold support the best neighbouring place that an own unit enters, or stays in, under threat."""
    for place in range(len(m.unit)):
        if m.unit[place] < 0 or m.orders[place, KIND] != HOLD:
            continue
        number = 0
        while chart.reach[m.unit[place], number] >= 0:
            number += 1
        nodes = chart.reach[m.unit[place], :number].copy()
        rank(nodes, values)
        for node in nodes:
            if _helps(chart, m, place, chart.place[node]):
                break


@compile_lazily
def _helps(chart: Chart, m: MarchArrays, place: int, target: int) -> bool:
    """Support what happens at a province, where it is under threat."""
    if m.entered[target] >= 0:
        return m.rivals[target] > 0 and _support_move(chart, m, place, target)
    stays = m.unit[target] >= 0 and chart.place[m.goes[target]] == target
    return stays and m.rivals[target] > 1 and _support_hold(chart, m, place, target)
