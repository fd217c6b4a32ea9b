"""Orders of a map: every line that its rules can offer in some position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from stratagem.games.diplomacy.board import WAIVE
from stratagem.games.diplomacy.engine import module
from stratagem.games.diplomacy.graph import Node, graph_of


@lru_cache(maxsize=8)
def orders_of(board: str) -> tuple[str, ...]:
    """Return all orders of a map, sorted, after the empty text, which leaves a slot of a sheet empty."""
    lines = _Lines(board)
    return "", *sorted({WAIVE, *lines.alone(), *lines.supports(), *lines.convoys(), *lines.builds()})


class _Lines:
    """Orders by kind, as the engine writes them."""

    def __init__(self, board: str) -> None:
        self._map: Any = module().Game(map_name=board).map
        self._units = frozenset(graph_of(board).nodes)
        self._by_sea: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        """Provinces between which an army can be convoyed, and the places of the fleets."""
        for paths in self._map.convoy_paths.values():
            for start, fleets, ends in paths:
                for end in ends:
                    self._by_sea[start][end] |= set(fleets)

    def alone(self) -> Iterator[str]:
        """Yield the orders that concern one unit."""
        for unit in self._units:
            yield f"{unit} H"
            yield f"{unit} D"
            for place in self._places(unit):
                if self._map.abuts(unit[0], unit[2:], "-", place):
                    yield f"{unit} - {place}"
                    yield f"{unit} R {place}"

    def supports(self) -> Iterator[str]:
        """Yield the supports of a stay and of a move."""
        for unit in self._units:
            for place in self._places(unit):
                if self._map.abuts(unit[0], unit[2:], "S", place):
                    yield from (f"{unit} S {kind} {place}" for kind in "AF" if f"{kind} {place}" in self._units)
                    for other in self._comers(place):
                        if other[2:5] != unit[2:5]:
                            yield f"{unit} S {other} - {place}"
                            yield f"{unit} S {other} - {place[:3]}"

    def convoys(self) -> Iterator[str]:
        """Yield the moves over sea and the orders of the fleets that carry them."""
        for start, ends in self._by_sea.items():
            for end, fleets in ends.items():
                yield f"A {start} - {end} VIA"
                yield from (f"F {fleet} C A {start} - {end}" for fleet in fleets)

    def builds(self) -> Iterator[str]:
        """Yield the builds."""
        for center in self._map.scs:
            for place in self._map.find_coasts(center):
                yield from (f"{kind} {place} B" for kind in "AF" if f"{kind} {place}" in self._units)

    def _places(self, unit: Node) -> list[str]:
        """Return the places next to a unit, with their coasts."""
        return list(self._map.dest_with_coasts[unit[2:]])

    def _comers(self, place: str) -> Iterator[Node]:
        """Yield the units that can move to a place, by land or by sea."""
        near = {
            coast for site in self._map.abut_list(place, incl_no_coast=True) for coast in self._map.find_coasts(site)
        }
        for kind in "AF":
            for site in near:
                if f"{kind} {site}" in self._units and self._map.abuts(kind, site, "-", place):
                    yield f"{kind} {site}"
        yield from (f"A {start}" for start in self._by_sea.get(place, ()))
