"""Movement phase, first part: which moves go by sea, which supports count, and who fights where.

Moves, supports and convoys are resolved as the engine resolves them, and not by one of the textbook algorithms. Direct
attacks cut supports, then convoys are disrupted, then moves bounce until nothing changes, and then those are freed that
dislodged units had blocked. The order of the steps decides paradoxes, so these kernels keep it. Numbers of steps are
those of the engine's comments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stratagem.games.diplomacy.fast.cells import (
    CONVOY,
    CUT,
    EXTRA,
    HOLD,
    KIND,
    MOVE,
    NO_CONVOY,
    NUM_POWERS,
    POWER,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    VOID,
    WHERE,
    WHOM,
)
from stratagem.games.diplomacy.fast.chart import NO, Chart, Ints
from stratagem.games.diplomacy.fast.compiled import compile_lazily

MAX_PATHS = 4
"""Largest number of convoy paths between two provinces of the standard map."""
GONE = -99


class Battle(NamedTuple):
    """Working arrays of a movement phase, by province of the unit."""

    board: Ints
    orders: Ints
    units: Ints
    """Provinces with units, power by power."""
    result: Ints
    support: Ints
    """Number of valid supports."""
    unhelpful: Ints
    """Number of supports that do not count towards a dislodgement: those by the power that is attacked."""
    declines: Ints
    """By supporting unit, 1 if its support is one of these."""
    target: Ints
    """Province in which the unit fights."""
    strength: Ints
    """Strength there; `GONE` if it fights no more."""
    back: Ints
    """1 if a bounced unit also defends its own province."""
    paths: Ints
    """Sets of fleets by which a unit can still be convoyed."""
    num_paths: Ints
    convoyers: Ints
    """Set of all fleets that may convoy the unit; 0 if it moves by land."""


@compile_lazily
def new_battle(board: Ints, orders: Ints) -> Battle:
    """Set up the arrays; a unit without an order holds."""
    size = board.shape[1]
    ordered = orders.copy()
    units = np.full(size + 1, NO, np.int32)
    count = 0
    for power in range(NUM_POWERS):
        for p in range(size):
            if board[UNIT, p] >= 0 and board[POWER, p] == power:
                units[count] = p
                count += 1
                if ordered[p, KIND] == 0:
                    ordered[p, KIND] = HOLD
    work = np.zeros((9, size), np.int32)
    paths = np.zeros((size, MAX_PATHS), np.int32)
    return Battle(
        board,
        ordered,
        units[:count],
        work[0],
        work[1],
        work[2],
        work[3],
        work[4],
        work[5],
        work[6],
        paths,
        work[7],
        work[8],
    )


@compile_lazily
def is_move(b: Battle, p: int) -> bool:
    """Return whether the unit in a province is ordered to move."""
    return bool(b.orders[p, KIND] == MOVE)


@compile_lazily
def by_sea(b: Battle, p: int) -> bool:
    """Return whether the unit in a province moves by a convoy that is still possible."""
    return bool(b.board[UNIT, p] >= 0 and b.orders[p, KIND] == MOVE and b.num_paths[p] > 0)


@compile_lazily
def find_convoys(chart: Chart, b: Battle) -> None:
    """Step 1: find the paths of convoyed armies, and cancel moves and convoys without one."""
    for p in b.units:
        if is_move(b, p):
            _find_paths(chart, b, p)
    for p in b.units:
        if b.orders[p, KIND] == CONVOY:
            army, to = b.orders[p, WHOM], b.orders[p, WHERE]
            if b.board[UNIT, army] < 0 or chart.fleet[b.board[UNIT, army]]:
                b.orders[p, KIND] = HOLD
            elif not (b.convoyers[army] & chart.bit[p] and is_move(b, army) and b.orders[army, WHERE] == to):
                b.result[p] |= VOID


@compile_lazily
def _find_paths(chart: Chart, b: Battle, p: int) -> None:
    """Find the paths of one army among the fleets that are ordered to convoy it."""
    node, to = b.board[UNIT, p], b.orders[p, WHERE]
    fleets = 0 if chart.fleet[node] else _convoying(chart, b, p, to, False)
    found, all_fleets = 0, 0
    if fleets and _intends(chart, b, p, to):
        first = chart.path_start[p, to]
        for index in range(first, first + chart.path_count[p, to]):
            if not chart.paths[index] & ~fleets:
                b.paths[p, found] = chart.paths[index]
                all_fleets |= chart.paths[index]
                found += 1
    b.num_paths[p] = found
    b.convoyers[p] = all_fleets
    if not found:
        b.orders[p, EXTRA] = 0
        if not chart.helps[node, to]:
            b.result[p] |= NO_CONVOY
    for q in b.units:
        if fleets & chart.bit[q] & ~all_fleets:
            b.result[q] = NO_CONVOY


@compile_lazily
def _convoying(chart: Chart, b: Battle, p: int, to: int, own: bool) -> int:
    """Return the set of fleets that are ordered to convoy a unit where it goes, or of those of its power."""
    fleets = 0
    for q in b.units:
        ordered = b.orders[q, KIND] == CONVOY and b.orders[q, WHOM] == p and b.orders[q, WHERE] == to
        if ordered and (not own or b.board[POWER, q] == b.board[POWER, p]):
            fleets |= chart.bit[q]
    return fleets


@compile_lazily
def _intends(chart: Chart, b: Battle, p: int, to: int) -> bool:
    """Return whether an army means to go by sea: it says so, it has to, or a fleet of its power takes part."""
    if b.orders[p, EXTRA] == 1 or not chart.helps[b.board[UNIT, p], to]:
        return True
    own, afloat, first = _convoying(chart, b, p, to, True), _afloat(chart, b), chart.path_start[p, to]
    for index in range(first, first + chart.path_count[p, to]):
        if chart.paths[index] & own and not chart.paths[index] & ~afloat:
            return True
    return False


@compile_lazily
def _afloat(chart: Chart, b: Battle) -> int:
    """Return the set of all fleets at sea."""
    fleets = 0
    for q in b.units:
        if chart.fleet[b.board[UNIT, q]]:
            fleets |= chart.bit[q]
    return fleets


@compile_lazily
def count_supports(chart: Chart, b: Battle) -> None:
    """Step 2: count the supports that agree with the order of the supported unit."""
    for p in b.units:
        kind, helped = b.orders[p, KIND], b.orders[p, WHOM]
        if kind in (SUPPORT_HOLD, SUPPORT_MOVE):
            if b.board[UNIT, helped] < 0:
                b.orders[p, KIND] = HOLD
                b.result[p] |= VOID
            elif not _agrees(chart, b, p, helped) or (
                b.result[helped] & NO_CONVOY and not chart.fleet[b.board[UNIT, helped]]
            ):
                b.result[p] |= VOID
            else:
                b.support[helped] += 1
                if is_move(b, helped) and b.orders[helped, EXTRA] == 0:  # the engine misses those that say VIA
                    attacked = b.orders[helped, WHERE]
                    if b.board[UNIT, attacked] >= 0 and b.board[POWER, attacked] == b.board[POWER, p]:
                        b.unhelpful[helped] += 1
                        b.declines[p] = 1


@compile_lazily
def _agrees(chart: Chart, b: Battle, p: int, helped: int) -> bool:
    """Return whether the helped unit does what it is supported in; a support without a coast is for any coast."""
    if b.orders[p, KIND] == SUPPORT_HOLD:
        return not is_move(b, helped)
    if not is_move(b, helped) or b.orders[p, WHERE] != b.orders[helped, WHERE]:
        return False
    coast = chart.coast[b.orders[helped, WHOM]]
    if b.orders[p, EXTRA] < 0 and chart.fleet[b.board[UNIT, helped]]:
        b.orders[p, EXTRA] = coast
    return bool(b.orders[p, EXTRA] == coast)


@compile_lazily
def cut_support(chart: Chart, b: Battle, p: int, direct: bool) -> None:
    """Let a move cut the support that is given by the unit that it attacks."""
    if not is_move(b, p) or (direct and by_sea(b, p)):
        return
    victim = b.orders[p, WHERE]
    kind = b.orders[victim, KIND]
    if b.board[UNIT, victim] < 0 or kind not in (SUPPORT_HOLD, SUPPORT_MOVE):
        return
    if b.result[victim] & (CUT | VOID) or b.board[POWER, p] == b.board[POWER, victim]:
        return
    site = b.orders[victim, WHERE]
    if site == p or (by_sea(b, p) and _protects_convoy(chart, b, p, site)):
        return
    b.result[victim] |= CUT
    helped = b.orders[victim, WHOM]
    b.support[helped] -= 1
    if b.declines[victim]:
        b.declines[victim] = 0
        b.unhelpful[helped] -= 1


@compile_lazily
def _protects_convoy(chart: Chart, b: Battle, p: int, site: int) -> bool:
    """Return whether a support concerns a fleet at sea that convoys and without which no path is left."""
    if b.board[UNIT, site] < 0 or not chart.fleet[b.board[UNIT, site]] or chart.coast[b.board[UNIT, site]] >= 0:
        return False
    if b.orders[site, KIND] != CONVOY or b.result[site] & VOID:
        return False
    spared = 0
    for index in range(b.num_paths[p]):
        spared += not b.paths[p, index] & chart.bit[site]
    return spared == 0


@compile_lazily
def set_strengths(b: Battle) -> None:
    """Let every unit fight where it goes, or where it stands if its move has failed."""
    for p in b.units:
        moves = is_move(b, p) and b.result[p] == 0
        b.target[p] = b.orders[p, WHERE] if moves else p
        b.strength[p] = 1 + b.support[p]
        b.back[p] = 0
