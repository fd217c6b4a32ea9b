"""Acceptance of a drawn game: it can be walked, conforms, is read in few words, and is worth playing."""

from __future__ import annotations

from stratagem.base.errors import CannotCompute
from stratagem.games.conformance.verify import verify
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.generator.sketch import Size
from stratagem.games.drawn.reading import write_description
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.tree_walk import walk

NODES: dict[Size, tuple[int, int]] = {"small": (20, 2_000), "medium": (400, 20_000), "large": (4_000, 150_000)}
"""Smallest and largest number of nodes of the tree, by size."""


def refusal_of(description: GameDescription, size: Size) -> str:
    """Return the reason for which a description is refused; empty for an acceptable game."""
    low, high = NODES[size]
    game = WrittenGame(text=write_description(description))
    try:
        tree = walk(game, high)
    except CannotCompute:
        return "too large"
    if len(tree) < low:
        return "too small"
    report = verify(game, episodes=3)
    if not report.ok:
        return f"conformance: {', '.join(report.failed)}"
    return ""
