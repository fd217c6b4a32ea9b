"""Places of the provinces of a map without a drawing: a layout of its graph by springs.

Source: Fruchterman and Reingold 1991, Graph drawing by force-directed placement.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from stratagem.games.base import Json
from stratagem.games.diplomacy.engine import STANDARD
from stratagem.games.diplomacy.graph import graph_of, province

_SIZE = 1000.0
_STEPS = 400


def is_drawn(board: str) -> bool:
    """Return whether a map has the provinces of the standard map, which has a drawing."""
    return board == STANDARD or board.startswith(f"{STANDARD}_")


@lru_cache(maxsize=8)
def layout_of(board: str) -> Json:
    """Return a place for each province, from 0 to 1000, and the pairs that lie next to each other."""
    graph = graph_of(board)
    names = sorted({province(node) for node in graph.nodes})
    pairs = sorted(
        {
            (names.index(province(node)), names.index(province(other)))
            for node, others in graph.next_to.items()
            for other in others
            if province(node) < province(other)
        }
    )
    places = _spread(len(names), np.array(pairs))
    return {
        "places": {name: [round(float(x)), round(float(y))] for name, (x, y) in zip(names, places, strict=True)},
        "pairs": [[names[first], names[second]] for first, second in pairs],
    }


def _spread(count: int, pairs: np.ndarray) -> np.ndarray:
    """Begin on a circle; neighbours attract, all repel, and the steps become shorter."""
    angles = 2 * np.pi * np.arange(count) / count
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ideal = np.sqrt(4.0 / count)
    for step in range(_STEPS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = (apart * (ideal**2 / distance**2)[..., None]).sum(axis=1)
        pull = apart[pairs[:, 0], pairs[:, 1]] * (distance[pairs[:, 0], pairs[:, 1]] / ideal)[:, None]
        np.add.at(force, pairs[:, 0], -pull)
        np.add.at(force, pairs[:, 1], pull)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        places = places + force / length * np.minimum(length, 0.1 * (1 - step / _STEPS))
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray(60 + (places - low) / np.maximum(high - low, 1e-9) * (_SIZE - 120))
