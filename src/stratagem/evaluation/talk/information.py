"""Mutual information of state and message, and of message and action, in nats.

A speaker informs if its messages depend on what it sees (*positive signalling*), a receiver listens if its actions
depend on messages (*positive listening*; Lowe et al. 2019, On the pitfalls of measuring emergent communication). One
may hold without the other, so each has a figure of its own, and neither tells whether anybody gains by it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stratagem.evaluation.talk.signalling import Signalling
from stratagem.games.key import Key

X = TypeVar("X", bound=Hashable)
Y = TypeVar("Y", bound=Hashable)
Row = tuple[Hashable, Hashable, Hashable]
"""Public history, and the two things whose dependence is measured, such as the state and the message."""


def mutual_information(joint: Mapping[tuple[X, Y], float]) -> float:
    """Return the mutual information of a joint distribution: `sum p(x, y) log(p(x, y) / p(x) p(y))`."""
    first: dict[X, float] = {}
    second: dict[Y, float] = {}
    for (x, y), p in joint.items():
        first[x] = first.get(x, 0.0) + p
        second[y] = second.get(y, 0.0) + p
    terms = (p * math.log(p / (first[x] * second[y])) for (x, y), p in joint.items() if p > 0.0)
    return max(0.0, math.fsum(terms))


def information_on_action(talk: Signalling) -> float:
    """Return the information that the message has on the action, by intervention.

    The message is drawn as often as the speaker sends it, but independently of the deal (do(m)): what the receiver sees
    itself cannot then pass for an effect of the message. The figure is `I(m; a | what the receiver sees)`, the mean
    over messages of the influence of Jaques et al. (2019), and the one-step causal influence of communication of Lowe
    et al. (2019) where the receiver sees the message alone.
    """
    by_sight = ((p, _answered(talk, heard)) for heard, p in talk.heard.items())
    return math.fsum(p * mutual_information(joint) for p, joint in by_sight)


def _answered(talk: Signalling, heard: Hashable) -> dict[tuple[str, str], float]:
    """Return the joint probability of message and action at one sight, under the intervention."""
    return {
        (message, action): p * share
        for message, p in talk.messages.items()
        for action, share in talk.answer(heard, message).items()
    }


@dataclass(frozen=True)
class SampledInformation:
    """Mutual information of samples beside its level without any dependence, since samples bias it upwards."""

    plug_in: float
    """Conditional mutual information of the empirical distribution, given the public history."""
    null_mean: float
    """Mean of the same figure over permutations within equal public histories."""
    p_value: float
    """Share of permutations with at least as much information, the sample itself included."""
    n: int
    """Number of rows."""

    @property
    def excess(self) -> float:
        """Information above the null."""
        return self.plug_in - self.null_mean


def sampled_information(rows: Sequence[Row], key: Key, permutations: int = 1000) -> SampledInformation:
    """Estimate the information of independent rows, with a permutation null: the last column is shuffled over deals.

    Only rows of equal public history are exchanged, so that a dependence on the history counts for nothing.
    """
    groups: dict[Hashable, tuple[list[Hashable], list[Hashable]]] = {}
    for history, x, y in rows:
        xs, ys = groups.setdefault(history, ([], []))
        xs.append(x)
        ys.append(y)
    found = _conditional(groups.values(), len(rows))
    null = [_conditional(_shuffled(groups.values(), key.at("shuffle", n)), len(rows)) for n in range(permutations)]
    reached = sum(value >= found - 1e-12 for value in null)
    mean = math.fsum(null) / permutations if permutations else math.nan
    return SampledInformation(found, mean, (reached + 1) / (permutations + 1), len(rows))


Columns = tuple[Sequence[Hashable], Sequence[Hashable]]


def _conditional(groups: Iterable[Columns], n: int) -> float:
    counts = (Counter(zip(xs, ys, strict=True)) for xs, ys in groups)
    return math.fsum(_information_of(count) * count.total() / n for count in counts)


def _information_of(count: Counter[tuple[Hashable, Hashable]]) -> float:
    total = count.total()
    return mutual_information({pair: number / total for pair, number in count.items()})


def _shuffled(groups: Iterable[Columns], key: Key) -> Iterator[Columns]:
    for number, (xs, ys) in enumerate(groups):
        order = list(ys)
        key.at("group", number).rng().shuffle(order)
        yield xs, order
