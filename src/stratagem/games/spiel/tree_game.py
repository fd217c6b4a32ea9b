"""Game tree as a game of OpenSpiel, in Gambit's extensive form, so that OpenSpiel's algorithms run on any finite game.

The actions of an information set are numbered in the order of its choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stratagem.games.tree import CHANCE, TERMINAL, GameTree

if TYPE_CHECKING:
    from stratagem.games.tree import Floats


def spiel_game(tree: GameTree, returns: Floats | None = None) -> Any:
    """Return the `pyspiel.Game` of a tree; `returns` by node and seat replace the tree's own."""
    import pyspiel  # rules must load without an engine

    return pyspiel.load_efg_game(extensive_form(tree, tree.returns if returns is None else returns))


def set_names(tree: GameTree) -> list[str]:
    """Return OpenSpiel's name of each information set."""
    seats = (known.seat for known in tree.information_sets)
    return [f"{seat}-{seat}-{number}-" for seat, number in zip(seats, _numbers(tree), strict=True)]


def extensive_form(tree: GameTree, returns: Floats) -> str:
    """Write a tree in Gambit's .efg format."""
    seats = " ".join(f'"{seat}"' for seat in range(tree.game.spec.seats))
    return "\n".join([f'EFG 2 R "tree" {{ {seats} }} ""', *_lines(tree, returns), ""])


def _lines(tree: GameTree, returns: Floats) -> Iterator[str]:
    """Yield a line for each node, its descendants after it."""
    numbers, movers, sets = _numbers(tree), tree.mover.tolist(), tree.information_set.tolist()
    stack = [0]
    while stack:
        node = stack.pop()
        mover, children = movers[node], tree.children(node)
        if mover == TERMINAL:
            payoffs = " ".join(map(repr, returns[node].tolist()))
            yield f't "" {node + 1} "" {{ {payoffs} }}'
        elif mover == CHANCE:
            odds = tree.probability[children.start : children.stop].tolist()
            outcomes = " ".join(f'"{number}" {p!r}' for number, p in enumerate(odds))
            yield f'c "" {node + 1} "" {{ {outcomes} }} 0'
        else:
            labels = " ".join(f'"{number}"' for number in range(len(children)))
            yield f'p "" {mover + 1} {numbers[sets[node]]} "" {{ {labels} }} 0'
        stack += reversed(children)


def _numbers(tree: GameTree) -> list[int]:
    """Return the number of each information set among those of its seat, from 1 on."""
    counts, numbers = Counter[int](), list[int]()
    for known in tree.information_sets:
        counts[known.seat] += 1
        numbers.append(counts[known.seat])
    return numbers
