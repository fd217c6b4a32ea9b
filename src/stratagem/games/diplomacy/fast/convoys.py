"""Movement phase, second part: which convoys are disrupted, and which supports the others cut (steps 4 and 5)."""

from __future__ import annotations

import numpy as np

from stratagem.games.diplomacy.fast.battle import Battle, cut_support, set_strengths
from stratagem.games.diplomacy.fast.cells import (
    CONVOY,
    DISRUPTED,
    EXTRA,
    HOLD,
    KIND,
    MAYBE,
    MOVE,
    NO_CONVOY,
    POWER,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    WHERE,
    WHOM,
)
from stratagem.games.diplomacy.fast.chart import NO, Chart
from stratagem.games.diplomacy.fast.compiled import compile_lazily


@compile_lazily
def settle_convoys(chart: Chart, b: Battle) -> None:
    """Steps 4 and 5: find the convoys that are disrupted, and let the others cut supports."""
    cutters = np.zeros(b.result.shape[0], np.int32)
    cut = True
    while cut:
        cut = False
        set_strengths(b)
        check_disruptions(chart, b, MAYBE, False)
        for p in b.units:
            if b.convoyers[p] and not b.result[p] and not cutters[p]:
                cut_support(chart, b, p, False)
                cutters[p] = 1
                cut = True
        if cut:
            continue
        check_disruptions(chart, b, NO_CONVOY, True)
        for p in b.units:
            if not b.convoyers[p]:
                continue
            if b.result[p] & NO_CONVOY:
                _forsake(b, p)
            elif b.result[p] & MAYBE and not cutters[p]:
                b.result[p] = 0
                cut = True
                cut_support(chart, b, p, False)
                cutters[p] = 1


@compile_lazily
def _forsake(b: Battle, p: int) -> None:
    """Cancel the supports and convoys of an army whose convoy has failed."""
    for q in b.units:
        kind = b.orders[q, KIND]
        if (kind in (SUPPORT_HOLD, SUPPORT_MOVE, CONVOY)) and b.orders[q, WHOM] == p:
            if b.result[q] == 0:
                b.result[q] = NO_CONVOY
            b.declines[q] = 0
    b.support[p] = 0
    b.unhelpful[p] = 0


@compile_lazily
def check_disruptions(chart: Chart, b: Battle, result: int, final: bool) -> None:
    """Strike the convoy paths through fleets that would be dislodged."""
    for p in b.units:
        if not b.convoyers[p]:
            continue
        to = b.orders[p, WHERE]
        for sea in b.units:
            if b.convoyers[p] & chart.bit[sea] and _is_disrupted(chart, b, to, sea):
                _strike(b, p, chart.bit[sea])
                land = chart.moves[b.board[UNIT, p], to] == 1
                stuck = land and leads_to(chart, b, to, False, sea)
                if b.num_paths[p] == 0 and (stuck or not land or b.orders[p, EXTRA] == 1):
                    b.result[p] = result
                if final:
                    b.result[sea] = DISRUPTED


@compile_lazily
def _is_disrupted(chart: Chart, b: Battle, to: int, sea: int) -> bool:
    """Return whether the fleet at sea would be dislodged by what attacks it now."""
    most, num, foreign, own = 0, 0, False, False
    for q in b.units:
        if b.target[q] == sea and b.strength[q] > most:
            most, num, foreign, own = b.strength[q], 0, False, False
        if b.target[q] == sea and b.strength[q] == most:
            num += 1
            own = own or q == sea
            foreign = foreign or b.board[POWER, q] != b.board[POWER, sea]
    if not foreign:
        return False
    if leads_to(chart, b, to, True, sea):
        return True
    if own:
        return False
    if num < 2:
        return True
    kind = b.orders[to, KIND] if b.board[UNIT, to] >= 0 else HOLD
    if kind == MOVE:
        return bool(b.orders[to, EXTRA] == 0 and b.orders[to, WHERE] == sea)
    return bool(kind in (SUPPORT_HOLD, SUPPORT_MOVE) and b.orders[to, WHERE] == sea)


@compile_lazily
def _strike(b: Battle, p: int, fleet: int) -> None:
    """Strike the paths of a fleet; the engine passes over a path that follows one that was struck."""
    index = 0
    while index < b.num_paths[p]:
        if b.paths[p, index] & fleet:
            for later in range(index + 1, b.num_paths[p]):
                b.paths[p, later - 1] = b.paths[p, later]
            b.num_paths[p] -= 1
        index += 1


@compile_lazily
def leads_to(chart: Chart, b: Battle, start: int, holding: bool, sea: int) -> bool:
    """Return whether a chain of supports and convoys leads to a support of the fleet at sea, or of an attack on it."""
    seen = np.zeros(b.result.shape[0], np.int32)
    place, coast = start, NO
    while b.board[UNIT, place] >= 0 and not seen[place] and (coast == NO or b.board[UNIT, place] == coast):
        seen[place] = 1
        kind, to = b.orders[place, KIND], b.orders[place, WHERE]
        wanted = SUPPORT_HOLD if holding else SUPPORT_MOVE
        if kind == wanted and to == sea:
            return True
        if kind not in (SUPPORT_HOLD, SUPPORT_MOVE, CONVOY):
            return False
        place, coast = to, NO if kind == CONVOY else b.orders[place, EXTRA]
    return False
