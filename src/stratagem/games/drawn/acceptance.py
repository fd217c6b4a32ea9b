"""Acceptance of a drawn game: it fits its size, conforms, is worth playing, and is no known game in disguise."""

from __future__ import annotations

import re
from typing import NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.conformance.verify import verify
from stratagem.games.drawn.canonical import canonical_digest, known_digests
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.generator.sketch import Size
from stratagem.games.drawn.reading import write_description
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.drawn.solution import TreeSolution, scale_form, solve_drawn
from stratagem.games.drawn.worth import MARGINS, Worth, measure_worth, refusal
from stratagem.games.sequence_form import SequenceForm
from stratagem.games.tree import GameTree
from stratagem.games.tree_walk import walk

NODES: dict[Size, tuple[int, int]] = {"small": (20, 2_000), "medium": (200, 20_000), "large": (2_000, 150_000)}
"""Smallest and largest number of nodes of the tree, by size."""
_LONGEST = 400
"""Largest number of pieces of the rules: in 280 draws prompts have at most 576 SmolLM2 tokens, in 263 under 500."""
_PIECE = re.compile(r"[A-Za-z]+|\d|[^\sA-Za-z\d]|\n")
_INVENTED = re.compile(r"[a-z]{4}[bkvz]us?", re.IGNORECASE)
_EPISODES = 3
"""Episodes of the conformance checks at the draw; `verify-game` plays more."""


class Acceptance(NamedTuple):
    """Findings about a described game."""

    refused: str
    """Reason why it is refused; empty for an acceptable game."""
    digest: str = ""
    """Canonical digest of the tree."""
    worth: Worth | None = None


def accept(description: GameDescription, size: Size, margins: str = "usual") -> Acceptance:
    """Try a description: the first reason that refuses it, or its digest and figures."""
    low, high = NODES[size]
    game = WrittenGame(text=write_description(description))
    if max(count_pieces(game.rules(seat)) for seat in range(description.seats)) > _LONGEST:
        return Acceptance("its rules are too long")
    try:
        tree = walk(game, high)
    except CannotCompute:
        return Acceptance("its tree is too large")
    if len(tree) < low:
        return Acceptance("its tree is too small")
    worth, digest, _ = examine(tree)
    if reason := refusal(worth, MARGINS[margins]):
        return Acceptance(reason, digest, worth)
    if digest in known_digests():
        return Acceptance("it is a known game", digest, worth)
    report = verify(game, episodes=_EPISODES)
    if not report.ok:
        return Acceptance(f"it does not conform: {', '.join(report.failed)}", digest, worth)
    return Acceptance("", digest, worth)


def count_pieces(text: str) -> int:
    """Count the pieces of a text, which are about its tokens: a generated word has four in capitals, and else three."""
    pieces = _PIECE.findall(text)
    return sum((4 if piece.isupper() else 3) if _INVENTED.fullmatch(piece) else 1 for piece in pieces)


def examine(tree: GameTree) -> tuple[Worth, str, TreeSolution]:
    """Return the worth of a tree, its canonical digest and its solution, from one sequence form."""
    form = SequenceForm(tree)
    scaled = scale_form(tree, form)
    solution = solve_drawn(tree, scaled)
    return measure_worth(tree, scaled, solution), canonical_digest(tree, form), solution
