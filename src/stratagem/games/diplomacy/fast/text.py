"""Positions and orders between the engine's words and the arrays of the fast board."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from stratagem.games.diplomacy.board import WAIVE
from stratagem.games.diplomacy.engine import COMPLETED, Results
from stratagem.games.diplomacy.fast.cells import (
    BOUNCE,
    BUILD,
    CLOCK,
    CONVOY,
    CUT,
    DISBAND,
    DISBANDED,
    DISLODGED,
    DISRUPTED,
    HOLD,
    LOSER,
    LOST,
    MAYBE,
    MOVE,
    NO_CONVOY,
    NUM_ROWS,
    OVER,
    OWNER,
    PHASE,
    POWER,
    REFUGES,
    RETREAT,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    VOID,
    YEAR,
)
from stratagem.games.diplomacy.fast.chart import NO, Ints, chart, names
from stratagem.games.diplomacy.position import PHASES

_WORDS = (
    (BOUNCE, "bounce"),
    (VOID, "void"),
    (CUT, "cut"),
    (DISLODGED, "dislodged"),
    (NO_CONVOY, "no convoy"),
    (DISRUPTED, "disrupted"),
    (DISBANDED, "disband"),
    (MAYBE, "maybe"),
)
_NO_CENTER = -2
"""Owner of a province without a centre."""


class OrderCode(NamedTuple):
    """An order as numbers: the unit's province and node, the columns of the array, and the node that it helps."""

    place: int
    node: int
    columns: tuple[int, int, int, int]
    helped: int = NO


@lru_cache(maxsize=1 << 16)
def order_code(line: str) -> OrderCode:
    """Return a line of an order sheet as numbers; raise LookupError for a line that is none."""
    known, words = names(), line.split()
    node = known.node[" ".join(words[:2])]
    place = known.place[words[1][:3]]
    match words[2:]:
        case ["H"]:
            columns, helped = (HOLD, NO, NO, NO), NO
        case ["D"]:
            columns, helped = (DISBAND, NO, NO, NO), NO
        case ["B"]:
            columns, helped = (BUILD, node, place, NO), NO
        case ["-" | "R" as verb, to, *via]:
            kind = MOVE if verb == "-" else RETREAT
            columns, helped = (kind, known.node[f"{words[0]} {to}"], known.place[to[:3]], int(bool(via))), NO
        case ["S", kind, at]:
            helped = known.node[f"{kind} {at}"]
            columns = (SUPPORT_HOLD, known.place[at[:3]], known.place[at[:3]], NO)
        case ["S", kind, at, "-", to]:
            helped = known.node[f"{kind} {at}"]
            columns = (
                SUPPORT_MOVE,
                known.place[at[:3]],
                known.place[to[:3]],
                known.node[f"F {to}"] if "/" in to else NO,
            )
        case ["C", kind, at, "-", to]:
            helped = known.node[f"{kind} {at}"]
            columns = (CONVOY, known.place[at[:3]], known.place[to[:3]], NO)
        case _:
            raise KeyError(line)
    if order_line(node, columns, helped) != line:
        raise KeyError(line)
    return OrderCode(place, node, columns, helped)


def orders_array(lines: Iterable[str]) -> Ints:
    """Return orders as an array by the province of the unit."""
    result = np.zeros((len(names().places), 4), np.int32)
    for line in lines:
        if line != WAIVE:
            code = order_code(line)
            result[code.place] = code.columns
    return result


def order_line(unit: int, columns: Sequence[int], helped: int = NO) -> str:
    """Return the order of a unit in the engine's words; `helped` is the node of the unit that it helps."""
    known = names()
    name, (kind, whom, where, extra) = known.nodes[unit], columns
    if kind == MOVE:
        return f"{name} - {known.nodes[whom][2:]}{' VIA' if extra == 1 else ''}"
    if kind == RETREAT:
        return f"{name} R {known.nodes[whom][2:]}"
    if kind == SUPPORT_HOLD:
        return f"{name} S {known.nodes[helped]}"
    if kind == SUPPORT_MOVE:
        return f"{name} S {known.nodes[helped]} - {known.nodes[extra][2:] if extra >= 0 else known.places[where]}"
    if kind == CONVOY:
        return f"{name} C {known.nodes[helped]} - {known.places[where]}"
    return f"{name} {'H' if kind == HOLD else 'B' if kind == BUILD else 'D'}"


@lru_cache(maxsize=256)
def result_words(bits: int) -> tuple[str, ...]:
    """Return the words of a result, sorted."""
    return tuple(sorted(word for bit, word in _WORDS if bits & bit))


def results_of(before: Ints, result: Ints) -> Results:
    """Return the results by unit of a phase that began with this board."""
    known, row = names(), LOST if before[LOST].max() >= 0 else UNIT
    return {known.nodes[before[row, p]]: result_words(int(result[p])) for p in np.flatnonzero(before[row] >= 0)}


def board_array(position: str) -> Ints:
    """Return the array of a position."""
    state, known = json.loads(position), names()
    board = np.full((NUM_ROWS, len(known.places)), NO, np.int32)
    board[REFUGES] = 0
    board[OWNER] = np.where(chart().centers, NO, _NO_CENTER)
    for power, number in known.power.items():
        for unit in state["units"][power]:
            if not unit.startswith("*"):
                board[[UNIT, POWER], known.place[unit[2:5]]] = known.node[unit], number
        for unit, places in state["retreats"][power].items():
            p, node = known.place[unit[2:5]], known.node[unit]
            goals = {known.node[f"{unit[0]} {place}"] for place in places}
            bits = sum(1 << k for k, other in enumerate(chart().reach[node].tolist()) if other in goals)
            board[[LOST, LOSER, REFUGES], p] = node, number, bits
        for place in state["centers"][power]:
            board[OWNER, known.place[place]] = number
    name = state["name"]
    over = name == COMPLETED
    board[CLOCK, [YEAR, PHASE, OVER]] = (0, 0, 1) if over else (int(name[1:-1]), PHASES.index(name[0] + name[-1]), 0)
    return board


def refuges(board: Ints, place: int) -> list[int]:
    """Return the nodes to which the dislodged unit of a province may retreat."""
    bits, reach = int(board[REFUGES, place]), chart().reach[board[LOST, place]].tolist()
    return [node for index, node in enumerate(reach) if node >= 0 and bits >> index & 1]


def phase_name(board: Ints) -> str:
    """Return the short name of the phase."""
    year, phase, over = board[CLOCK, :3].tolist()
    return COMPLETED if over else f"{PHASES[phase][0]}{year}{PHASES[phase][1]}"


def position_text(board: Ints) -> str:
    """Return the position as the engine's text."""
    known = names()
    units: Mapping[str, list[str]] = {power: [] for power in known.powers}
    retreats: Mapping[str, dict[str, list[str]]] = {power: {} for power in known.powers}
    centers: Mapping[str, list[str]] = {power: [] for power in known.powers}
    unit, power, lost, loser, _, owner, _ = board.tolist()
    for p, place in enumerate(known.places):
        if unit[p] >= 0:
            units[known.powers[power[p]]].append(known.nodes[unit[p]])
        if lost[p] >= 0:
            name = known.nodes[lost[p]]
            units[known.powers[loser[p]]].append(f"*{name}")
            retreats[known.powers[loser[p]]][name] = sorted(known.nodes[node][2:] for node in refuges(board, p))
        if owner[p] >= 0:
            centers[known.powers[owner[p]]].append(place)
    state: dict[str, Any] = {
        "name": phase_name(board),
        "units": {power: sorted(own) for power, own in units.items()},
        "retreats": {power: dict(sorted(own.items())) for power, own in retreats.items()},
        "centers": centers,
        "homes": _homes(),
    }
    return json.dumps(state, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=1)
def _homes() -> dict[str, list[str]]:
    """Return the home centres of each power, sorted."""
    known, owner = names(), chart().homes.tolist()
    return {power: [p for p, o in zip(known.places, owner, strict=True) if o == n] for power, n in known.power.items()}
