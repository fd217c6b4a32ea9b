"""Scores of items, and their pairs: what two systems scored on the same items.

Epochs, rollouts and filters of an item are repeats: their mean is one score, and the item is one observation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadParameter
from stratagem.measure.statistics import Array

_ROUNDING = 1e-12
"""Share of a score by which a sum in another order may differ from it."""
_LARGEST_SCORE = 1e100
"""Largest size of a score: the fourth power of larger ones overflows."""
STOPPED = "not run"
"""Reason of items that a log planned, and that were not run when it ended."""


class ItemScore(NamedTuple):
    """Score of one answer of a system to an item."""

    item: str
    system: str
    score: float | None
    """None where the answer has no score; the reason says why."""
    measure: str = "score"
    """Name of what was scored, with its task: scores of several measures are compared one by one."""
    cluster: str | None = None
    """Group of items that are alike, such as questions about one text; None where every item is its own."""
    repeat: str = ""
    """Epoch, rollout or filter."""
    reason: str = ""
    """Reason of a missing score, such as `error` or `limit`; empty where none is known."""


@dataclass
class _ItemAnswers:
    """Scores of one system on one item."""

    scores: list[float] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    cluster: str | None = None

    @property
    def is_known(self) -> bool:
        """True if the item has a score, or a reason why it has none."""
        return bool(self.scores or self.reasons)

    def mean_with(self, value: float) -> float:
        """Return the mean over repeats with a value for those that are missing for a reason."""
        return (math.fsum(self.scores) + value * len(self.reasons)) / (len(self.scores) + len(self.reasons))


Answers = dict[str, _ItemAnswers]
"""Scores of one system by item."""


class ScoreTable:
    """Scores of a comparison by measure, system and item, in the order in which they were read."""

    def __init__(self, rows: Iterable[ItemScore], missing: float | None = None) -> None:
        self._answers: dict[str, dict[str, Answers]] = {}
        self._range: dict[str, tuple[float, float]] = {}
        for row in rows:
            self._add(row, missing)

    def _add(self, row: ItemScore, missing: float | None) -> None:
        score = missing if row.score is None and row.reason else row.score
        of_item = self._answers.setdefault(row.measure, {}).setdefault(row.system, {})
        answers = of_item.setdefault(row.item, _ItemAnswers())
        if score is not None:
            if not abs(score) <= _LARGEST_SCORE:
                raise BadParameter(
                    f"Item {row.item!r} of {row.system!r} has the score {score} on {row.measure!r}, and scores are "
                    f"numbers up to {_LARGEST_SCORE}."
                )
            answers.scores.append(score)
            low, high = self._range.get(row.measure, (0.0, 1.0))
            self._range[row.measure] = min(low, score), max(high, score)
        elif row.reason:
            answers.reasons.append(row.reason)
        if answers.cluster is not None and row.cluster is not None and answers.cluster != row.cluster:
            raise BadParameter(
                f"Item {row.item!r} lies in the clusters {answers.cluster!r} and {row.cluster!r}: `cluster=` names a "
                "column with one value an item."
            )
        answers.cluster = row.cluster if answers.cluster is None else answers.cluster

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return [*self._answers]

    def systems(self, measure: str | None = None) -> list[str]:
        """Return the systems, or those that a measure has scores of."""
        chosen = self._answers.values() if measure is None else [self._answers[measure]]
        return [*dict.fromkeys(system for systems in chosen for system in systems)]

    def answers(self, measure: str, system: str) -> Answers:
        """Return the scores of a system by item."""
        return self._answers[measure][system]

    def range_of(self, measure: str) -> tuple[float, float]:
        """Return the least and the largest score: 0 and 1, or beyond them as the scores are."""
        return self._range.get(measure, (0.0, 1.0))


@dataclass(frozen=True)
class PairedScores:
    """Scores of two systems on the items that both have."""

    first: Array
    second: Array
    """Mean scores of the second system over the repeats, item by item."""
    worst: Array
    best: Array
    """Differences, second less first, where all that is missing for a reason speaks for the second system."""
    clusters: NDArray[np.intp] | None
    """Number of the cluster of each item; None where every item is its own."""
    reasons: Mapping[str, Mapping[str, int]]
    """Number of answers that are missing for a reason, by system and reason."""
    only_one: int
    """Number of items that only one of the systems has, without a reason."""
    repeats: float
    """Mean number of answers of a system to an item."""

    @property
    def differences(self) -> Array:
        """Second less first, NaN where one has no score; a difference by rounding is none."""
        differences = self.second - self.first
        size = np.maximum(np.abs(self.first), np.abs(self.second))
        return np.where(np.abs(differences) <= _ROUNDING * size, 0.0, differences)

    @property
    def num_missing(self) -> int:
        """Number of answers that are missing for a reason."""
        return sum(count for reasons in self.reasons.values() for count in reasons.values())


def pair_scores(table: ScoreTable, measure: str, first: str, second: str) -> PairedScores:
    """Pair the scores of two systems; an item that one has with a reason in place of its scores is kept."""
    one, other = table.answers(measure, first), table.answers(measure, second)
    least, most = table.range_of(measure)
    shared = [item for item in one if item in other and one[item].is_known and other[item].is_known]
    known = {item for answers in (one, other) for item, found in answers.items() if found.is_known}
    pairs = [(one[item], other[item]) for item in shared]
    return PairedScores(
        first=_means([found for found, _ in pairs]),
        second=_means([found for _, found in pairs]),
        worst=np.array([b.mean_with(least) - a.mean_with(most) for a, b in pairs]),
        best=np.array([b.mean_with(most) - a.mean_with(least) for a, b in pairs]),
        clusters=_cluster_numbers(shared, one, other),
        reasons={
            name: _reasons([answers[item] for item in shared]) for name, answers in ((first, one), (second, other))
        },
        only_one=len(known) - len(shared),
        repeats=sum(len(a.scores) + len(b.scores) for a, b in pairs) / (2 * len(pairs)) if pairs else 0.0,
    )


def _means(answers: Sequence[_ItemAnswers]) -> Array:
    return np.array([math.fsum(one.scores) / len(one.scores) if one.scores else math.nan for one in answers])


def _reasons(answers: Sequence[_ItemAnswers]) -> dict[str, int]:
    return dict(Counter(reason for one in answers for reason in one.reasons).most_common())


def _cluster_numbers(items: Sequence[str], one: Answers, other: Answers) -> NDArray[np.intp] | None:
    """Return the number of the cluster of each item; an item without one is a cluster of its own."""
    names: list[tuple[str, str]] = []
    for item in items:
        first, second = one[item].cluster, other[item].cluster
        if first is not None and second is not None and first != second:
            raise BadParameter(
                f"Item {item!r} lies in the cluster {first!r} in one log and in {second!r} in the other: `cluster=` "
                "names a column with one value an item."
            )
        cluster = second if first is None else first
        names.append(("item", item) if cluster is None else ("cluster", cluster))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return None if len(numbers) == len(names) else np.array([numbers[name] for name in names], dtype=np.intp)
