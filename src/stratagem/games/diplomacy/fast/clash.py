"""Movement phase, third part: bounces, supports cut by dislodgements, dislodgements, and who moves after all."""

from __future__ import annotations

import numpy as np

from stratagem.games.diplomacy.fast.battle import (
    GONE,
    Battle,
    by_sea,
    count_supports,
    cut_support,
    find_convoys,
    is_move,
    new_battle,
    set_strengths,
)
from stratagem.games.diplomacy.fast.cells import (
    BOUNCE,
    CUT,
    DISLODGED,
    DISRUPTED,
    EXTRA,
    KIND,
    LOSER,
    LOST,
    POWER,
    REFUGES,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    VOID,
    WHERE,
    WHOM,
)
from stratagem.games.diplomacy.fast.chart import NO, Chart, Ints
from stratagem.games.diplomacy.fast.compiled import compile_lazily
from stratagem.games.diplomacy.fast.convoys import settle_convoys


@compile_lazily
def resolve_moves(chart: Chart, board: Ints, orders: Ints, result: Ints) -> None:
    """Play a movement phase on the board, and write the result of each unit by the province where it was."""
    b = new_battle(board, orders)
    find_convoys(chart, b)
    count_supports(chart, b)
    for p in b.units:
        if b.result[p] == 0:
            cut_support(chart, b, p, True)
    if b.convoyers.any():
        settle_convoys(chart, b)
    set_strengths(b)
    bounce(b)
    while _cut_by_dislodging(b):
        bounce(b)
    beaten_by = np.full(board.shape[1], NO, np.int32)
    _dislodge(b, beaten_by)
    _find_refuges(chart, b, beaten_by)
    _march(b, beaten_by)
    result[:] = b.result


@compile_lazily
def _boing(b: Battle, p: int) -> None:
    """Mark a bounce: the unit also defends its own province from now on."""
    b.result[p] |= BOUNCE
    b.back[p] = 1


@compile_lazily
def bounce(b: Battle) -> None:
    """Steps 6 to 8: mark bounces until there are no more."""
    while _swaps(b) or _bounce_outgunned(b) or _self_dislodging(b):
        pass


@compile_lazily
def _swaps(b: Battle) -> bool:
    """Step 6: bounce units that would change places without a convoy; the stronger one may pass."""
    found = False
    for p in b.units:
        if b.result[p] or not is_move(b, p) or by_sea(b, p):
            continue
        q = b.orders[p, WHERE]
        if b.board[UNIT, q] < 0 or by_sea(b, q) or not is_move(b, q) or b.orders[q, WHERE] != p or b.result[q]:
            continue
        mine, other = b.support[p] - b.unhelpful[p], b.support[q] - b.unhelpful[q]
        equal = b.board[POWER, p] == b.board[POWER, q] or b.support[p] == b.support[q]
        if equal or mine <= other:
            _boing(b, p)
        if equal or other <= mine:
            _boing(b, q)
        _void_unhelpful(b, p)
        _void_unhelpful(b, q)
        found = True
    return found


@compile_lazily
def _void_unhelpful(b: Battle, helped: int) -> None:
    """Mark the supports that would have dislodged an own unit."""
    for q in b.units:
        if b.declines[q] and b.orders[q, WHOM] == helped:
            b.result[q] |= VOID


@compile_lazily
def _rivals(b: Battle, site: int) -> tuple[int, int, int]:
    """Return the greatest strength at a province, the number of units that have it, and the next greatest strength."""
    most, num, second = GONE, 0, GONE
    for q in b.units:
        for own in range(2):
            if own == 0 and b.target[q] == site:
                strength = b.strength[q]
            elif own == 1 and q == site and b.back[q]:
                strength = 1
            else:
                continue
            if strength > most:
                most, num, second = strength, 1, most
            elif strength == most and strength > GONE:
                num += 1
            elif second < strength < most:
                second = strength
    return most, num, second


@compile_lazily
def _bounce_outgunned(b: Battle) -> bool:
    """Step 7: bounce moves that are not the only strongest ones at their destination."""
    found = False
    for p in b.units:
        if b.result[p] == 0 and is_move(b, p):
            most, num, _ = _rivals(b, b.target[p])
            if b.strength[p] != most or num != 1:
                _boing(b, p)
                found = True
    return found


@compile_lazily
def _self_dislodging(b: Battle) -> bool:
    """Step 8: bounce moves that would dislodge an own unit, or that need the help of the power that they attack."""
    found = False
    for p in b.units:
        if b.result[p] or not is_move(b, p):
            continue
        site = b.target[p]
        if b.board[UNIT, site] < 0 or (is_move(b, site) and b.result[site] == 0):
            continue
        most, num, second = _rivals(b, site)
        if num != 1 or b.strength[p] != most:
            continue
        own = b.board[POWER, site] == b.board[POWER, p]
        if own or (second > GONE and most - b.unhelpful[p] <= second):
            _boing(b, p)
            _void_unhelpful(b, p)
            found = True
    return found


@compile_lazily
def _cut_by_dislodging(b: Battle) -> bool:
    """Step 9: cut the supports that dislodged units give.

    An army that came by convoy cuts no support for or against a fleet, unless it is directed against its own province.
    """
    found = False
    for p in b.units:
        if b.result[p] or not is_move(b, p):
            continue
        victim = b.orders[p, WHERE]
        kind = b.orders[victim, KIND]
        if b.board[UNIT, victim] < 0 or kind not in (SUPPORT_HOLD, SUPPORT_MOVE) or b.result[victim]:
            continue
        site, helped = b.orders[victim, WHERE], b.orders[victim, WHOM]
        if b.orders[p, EXTRA] == 1 and site != p:
            continue
        b.result[victim] |= CUT
        found = True
        if b.target[helped] == site:
            b.strength[helped] -= 1
            if b.declines[victim]:
                b.declines[victim] = 0
                b.unhelpful[helped] -= 1
    return found


@compile_lazily
def _dislodge(b: Battle, beaten_by: Ints) -> None:
    """Step 10: mark dislodgements, and free the moves that units had blocked which are no longer there."""
    for p in b.units:
        if b.result[p] or not is_move(b, p):
            continue
        loser = b.orders[p, WHERE]
        if b.board[UNIT, loser] >= 0 and (not is_move(b, loser) or b.result[loser]):
            b.result[loser] = (b.result[loser] & ~DISRUPTED) | DISLODGED
            beaten_by[loser] = p
            head_to_head = (
                is_move(b, loser) and b.orders[loser, WHERE] == p and not by_sea(b, p) and not by_sea(b, loser)
            )
            if head_to_head and b.target[loser] == p:
                b.strength[loser] = GONE
                b.target[loser] = NO
            _void_unhelpful(b, p)
        _free(b, beaten_by, p)


@compile_lazily
def _free(b: Battle, beaten_by: Ints, site: int) -> None:
    """Let the only strongest unit that bounced at a province move there, and free what its own stay had blocked."""
    while True:
        most, num, _ = _rivals(b, site)
        if num != 1:
            return
        freed = NO
        for q in b.units:
            if (b.target[q] == site and b.strength[q] == most) or (q == site and b.back[q] and most == 1):
                freed = q
        if not b.result[freed] & BOUNCE:
            return
        b.result[freed] &= ~BOUNCE
        if beaten_by[freed] >= 0:
            beaten_by[freed] = NO
            b.result[freed] &= ~DISLODGED
            return
        b.back[freed] = 0
        site = freed


@compile_lazily
def _is_contested(b: Battle, site: int) -> bool:
    """Return whether any unit has fought at a province."""
    fights = 0
    for q in b.units:
        fights += b.target[q] == site or (q == site and b.back[q])
    return fights > 0


@compile_lazily
def _find_refuges(chart: Chart, b: Battle, beaten_by: Ints) -> None:
    """Write the dislodged units to the board, with the nodes to which they may retreat."""
    b.board[LOST, :] = NO
    b.board[LOSER, :] = NO
    b.board[REFUGES, :] = 0
    for p in b.units:
        if beaten_by[p] < 0:
            continue
        attacker = beaten_by[p]
        bits, reach = 0, chart.reach[b.board[UNIT, p]]
        for index in range(len(reach)):
            if reach[index] < 0:
                break
            to = chart.place[reach[index]]
            if (to != attacker and not _is_contested(b, to)) or by_sea(b, attacker):
                bits |= 1 << index
        if bits:
            b.board[LOST, p] = b.board[UNIT, p]
            b.board[LOSER, p] = b.board[POWER, p]
            b.board[REFUGES, p] = bits


@compile_lazily
def _march(b: Battle, beaten_by: Ints) -> None:
    """Move the units that succeeded, and take away those that were dislodged."""
    power = b.board[POWER].copy()
    for p in b.units:
        if beaten_by[p] >= 0 or (is_move(b, p) and b.result[p] == 0):
            b.board[UNIT, p] = NO
            b.board[POWER, p] = NO
    for p in b.units:
        if beaten_by[p] < 0 and is_move(b, p) and b.result[p] == 0:
            to = b.orders[p, WHERE]
            b.board[UNIT, to] = b.orders[p, WHOM]
            b.board[POWER, to] = power[p]
