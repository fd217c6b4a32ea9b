"""Graph of a map: a node for each province of an army, and each sea or coast of a fleet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache

from stratagem.games.diplomacy.engine import module

Node = str
"""A unit, as orders name it: `A PAR`, `F SPA/NC`."""


class Graph:
    """A map's nodes and which of them lie next to each other, without convoys."""

    def __init__(self, board: str) -> None:
        chart = module().Game(map_name=board).map
        places = sorted({place.upper() for place in chart.locs})
        self.nodes: tuple[Node, ...] = tuple(
            f"{kind} {place}" for kind in "AF" for place in places if chart.is_valid_unit(f"{kind} {place}")
        )
        known = set(self.nodes)
        self.next_to: dict[Node, tuple[Node, ...]] = {
            node: tuple(
                f"{node[0]} {place}"
                for place in places
                if f"{node[0]} {place}" in known and chart.abuts(node[0], node[2:], "-", place)
            )
            for node in self.nodes
        }
        """By node, the nodes to which a unit there can move."""

    @cached_property
    def reach(self) -> dict[Node, frozenset[str]]:
        """By node, the provinces that a unit there can enter."""
        return {node: frozenset(map(province, others)) for node, others in self.next_to.items()}


@lru_cache(maxsize=8)
def graph_of(board: str) -> Graph:
    """Return the graph of a map, cached."""
    return Graph(board)


def province(node: Node) -> str:
    """Return the province of a unit, without its coast."""
    return node[2:5]


def able(graph: Graph, units: Iterable[Node]) -> Counter[str]:
    """Count by province the units that could be there after a move, without convoys."""
    result: Counter[str] = Counter()
    for unit in units:
        result.update(graph.reach[unit])
        result[province(unit)] += 1
    return result


def distances(graph: Graph, targets: Collection[str]) -> dict[Node, int]:
    """By node, the number of moves from the nearest of these provinces; unreachable nodes are left out."""
    result = {node: 0 for node in graph.nodes if province(node) in targets}
    edge = list(result)
    for node in edge:  # grows while it is walked
        for other in graph.next_to[node]:
            if other not in result:
                result[other] = result[node] + 1
                edge.append(other)
    return result
