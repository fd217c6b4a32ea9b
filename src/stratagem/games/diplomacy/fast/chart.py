"""Chart: the map as arrays, by the numbers of its provinces and nodes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.diplomacy.engine import STANDARD, module, powers_of
from stratagem.games.diplomacy.graph import Node, graph_of, province

Ints = NDArray[np.int32]
NO = -1
"""Number of no province, node or power."""
_FAR = 99999
"""Number of steps to a place that cannot be reached, as in the engine."""


class Chart(NamedTuple):
    """Arrays of the map; nodes and provinces have the numbers of their alphabetical order, lists end with -1."""

    place: Ints
    """By node, its province."""
    fleet: Ints
    """By node, 1 if a fleet stands there."""
    coast: Ints
    """By node, the node itself if it is one of several coasts, else -1."""
    reach: Ints
    """By node, the nodes to which a unit there can move."""
    moves: Ints
    """By node and province, 1 if a unit there can move there, coasts left out."""
    helps: Ints
    """By node and province, 1 if a unit there can support something there."""
    centers: Ints
    """By province, 1 if it is a supply centre."""
    homes: Ints
    """By province, the power whose home centre it is."""
    from_home: Ints
    """By node and power, the number of steps to its nearest home centre, as the engine counts them for removals."""
    nodes: Ints
    """By province, its nodes."""
    bit: Ints
    """By province, the bit of a sea in a set of fleets; 0 elsewhere."""
    path_start: Ints
    """By pair of provinces, the first of their convoy paths."""
    path_count: Ints
    """By pair of provinces, the number of their convoy paths."""
    paths: Ints
    """Sets of fleets that carry an army; those with fewer fleets come first."""


class Names:
    """Names of provinces, nodes and powers, and their numbers."""

    def __init__(self) -> None:
        graph = graph_of(STANDARD)
        self.nodes: tuple[Node, ...] = graph.nodes
        self.places = tuple(sorted({province(node) for node in graph.nodes}))
        self.powers = powers_of(STANDARD)
        self.node = {node: number for number, node in enumerate(self.nodes)}
        self.place = {place: number for number, place in enumerate(self.places)}
        self.power = {power: number for number, power in enumerate(self.powers)}


@lru_cache(maxsize=1)
def names() -> Names:
    """Return the names of the standard map, cached."""
    return Names()


@lru_cache(maxsize=1)
def chart() -> Chart:
    """Return the arrays of the standard map, cached."""
    known, rules = names(), module().Game(map_name=STANDARD).map
    next_to = graph_of(STANDARD).next_to
    place = np.array([known.place[province(node)] for node in known.nodes], np.int32)
    shape = (len(known.nodes), len(known.places))
    moves, helps = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for row, node in enumerate(known.nodes):
        for other in next_to[node]:
            moves[row, known.place[province(other)]] = 1
        for column, name in enumerate(known.places):
            helps[row, column] = bool(rules.abuts(node[0], node[2:], "S", name))
    start, count, sets, bit = _convoys(rules, known)
    return Chart(
        place=place,
        fleet=np.array([node[0] == "F" for node in known.nodes], np.int32),
        coast=np.array([n if "/" in node else NO for n, node in enumerate(known.nodes)], np.int32),
        reach=_pad_rows([[known.node[other] for other in next_to[node]] for node in known.nodes]),
        moves=moves,
        helps=helps,
        centers=np.array([name in rules.scs for name in known.places], np.int32),
        homes=_homes(rules, known),
        from_home=_from_home(rules, known),
        nodes=_pad_rows([[n for n, p in enumerate(place) if p == number] for number in range(len(known.places))]),
        bit=bit,
        path_start=start,
        path_count=count,
        paths=sets,
    )


def _pad_rows(rows: list[list[int]]) -> Ints:
    """Return lists of numbers as an array, filled up with -1 and with at least one -1 at the end of each."""
    result = np.full((len(rows), 1 + max(map(len, rows))), NO, np.int32)
    for index, row in enumerate(rows):
        result[index, : len(row)] = row
    return result


def _homes(rules: Any, known: Names) -> Ints:
    owner = {
        place: known.power[power] for power, places in rules.homes.items() if power in known.power for place in places
    }
    return np.array([owner.get(name, NO) for name in known.places], np.int32)


def _from_home(rules: Any, known: Names) -> Ints:
    steps = [_steps(rules, node) for node in known.nodes]
    homes = [set(rules.homes[power]) for power in known.powers]
    return np.array([[min(own.get(place, _FAR) for place in some) for some in homes] for own in steps], np.int32)


def _steps(rules: Any, node: Node) -> dict[str, int]:
    """Return the least number of steps from a node by province.

    The engine lets an army walk over seas, and a fleet pass from coast to coast of a province, to find out which unit
    is removed. So these are not the steps of `Graph.next_to`.
    """
    steps, found = {node[2:]: 0}, dict[str, int]()
    edge = [node[2:]]
    for place in edge:  # grows while it is walked
        found.setdefault(place[:3], steps[place])
        for name in rules.abut_list(place, incl_no_coast=True):
            other = name.upper()
            if other not in steps and (node[0] == "A" or rules.abuts("F", place, "-", other)):
                steps[other] = steps[place] + 1
                edge.append(other)
    return found


def _convoys(rules: Any, known: Names) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the convoy paths between provinces: where they begin, their number and sets, and the bits of the seas."""
    seas = sorted({sea for paths in rules.convoy_paths.values() for _, fleets, _ in paths for sea in fleets})
    bit = np.zeros(len(known.places), np.int32)
    bit[[known.place[sea] for sea in seas]] = [1 << number for number in range(len(seas))]
    found: dict[tuple[int, int], list[int]] = {}
    for number in sorted(rules.convoy_paths):
        for begin, fleets, ends in rules.convoy_paths[number]:
            bits = sum(int(bit[known.place[sea]]) for sea in fleets)
            for end in ends:
                found.setdefault((known.place[begin], known.place[end]), []).append(bits)
    size = len(known.places)
    start, count = np.zeros((size, size), np.int32), np.zeros((size, size), np.int32)
    sets: list[int] = []
    for pair, own in found.items():
        start[pair], count[pair] = len(sets), len(own)
        sets += own
    return start, count, np.array(sets, np.int32), bit
