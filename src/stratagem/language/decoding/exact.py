"""The exact policy of a masked sampler: for every action the product of the distributions that it is drawn from.

At each node of the trie the sampler draws from the model's next-token probabilities, tempered and renormalised over the
allowed set, the end token included:

    P(a) = product over the nodes on the way to a of p(token)^(1/T) / sum over allowed of p(other)^(1/T)

Normalising whole strings jointly gives other numbers, which nothing is ever drawn from. All nodes are asked about at
once, so that the engine can share their prefixes. The lines of a sheet can be said in several orders, which are added
up; a sheet of many slots has too many of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.decoding.walker import Cursor, Walker


class Fork(NamedTuple):
    """Node where the model has a choice: the tokens so far, and the tokens that may follow."""

    prefix: Ids
    allowed: Ids


class ForkBranch(NamedTuple):
    """A way out of a fork, both by number."""

    fork: int
    way: int


class Tree(NamedTuple):
    """Every fork of a walker, parents first, with the branch that led to it, and the action at the end of each walk."""

    forks: list[Fork]
    origins: list[ForkBranch | None]
    leaves: list[tuple[str, ForkBranch | None]]


def tree_of(walker: Walker, most: int = 50_000) -> Tree:
    """Follow every walk; refused where there are more forks than `most`."""
    tree, waiting = Tree([], [], []), list[tuple[Cursor, ForkBranch | None]]([(walker.start(), None)])
    while waiting:
        cursor, origin = waiting.pop()
        for token in cursor.forced:
            cursor.advance(token)
        if cursor.action is not None:
            tree.leaves.append((cursor.action, origin))
            continue
        waiting.extend(_ways(cursor, len(tree.forks)))
        tree.forks.append(Fork(tuple(cursor.tokens), cursor.allowed))
        tree.origins.append(origin)
        if len(tree.forks) > most:
            raise CannotCompute(f"The exact policy over {walker.choices.count} actions needs more than {most} nodes.")
    return tree


def _ways(cursor: Cursor, number: int) -> Iterator[tuple[Cursor, ForkBranch]]:
    for way, token in enumerate(cursor.allowed):
        ahead = cursor.fork()
        ahead.advance(token)
        yield ahead, ForkBranch(number, way)


def weigh_actions(
    walker: Walker, tree: Tree, rows: Sequence[Sequence[float]], temperature: float = 1.0
) -> dict[str, float]:
    """Return the probability of every legal action, in the order of the choices.

    A row has the scores of a fork's allowed tokens in their order: log-probabilities or logits, before temperature.
    """
    if len(rows) != len(tree.forks):
        raise ValueError(f"{len(tree.forks)} forks were asked about, {len(rows)} rows came back")
    nodes = [distribution(row, len(fork.allowed), temperature) for row, fork in zip(rows, tree.forks, strict=True)]
    reached = [1.0] * len(nodes)

    def chance(branch: ForkBranch | None) -> float:
        return 1.0 if branch is None else reached[branch.fork] * nodes[branch.fork][branch.way]

    for fork, origin in enumerate(tree.origins):
        reached[fork] = chance(origin)
    parts: dict[str, list[float]] = {action: [] for action in walker.choices}
    for action, branch in tree.leaves:
        parts[action].append(chance(branch))
    return {action: math.fsum(chances) for action, chances in parts.items()}


def distribution(scores: Sequence[float], num_allowed: int, temperature: float = 1.0) -> list[float]:
    """Return the sampling distribution at one node; at temperature 0 the first of the largest has it all."""
    if not temperature >= 0.0 or math.isinf(temperature):
        raise BadParameter(f"A temperature is 0 or more, not {temperature}.")
    numbers = [float(score) for score in scores]
    if len(numbers) != num_allowed:
        raise ValueError(f"{num_allowed} tokens are allowed, {len(numbers)} scores came back")
    top = max(numbers)
    if any(math.isnan(number) for number in numbers) or math.isinf(top):
        raise CannotCompute(f"A model's scores for the allowed tokens must be numbers, not {numbers[:4]}.")
    if temperature == 0.0:
        return [float(index == numbers.index(top)) for index in range(len(numbers))]
    weights = [math.exp((number - top) / temperature) for number in numbers]
    total = math.fsum(weights)
    return [weight / total for weight in weights]
