"""Counts of a player's replies by question, in two halves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from stratagem.measure.sampled.questions import Floats, Ints, TreeQuestions


@dataclass(frozen=True, eq=False)
class ReplyTally:
    """Replies to the questions: their actions, and which of them a cache may have given."""

    halves: Floats
    """Number of replies by half and slot: replies are dealt to the halves in turn."""
    legal: Floats
    """Number of legal replies by slot; the action of any other reply is the game's own."""
    copies: Sequence[Counter[Hashable]]
    """By question: how often each reply was given that may come from a cache; replies of no cache are not named."""

    @property
    def counts(self) -> Floats:
        """Number of replies by slot."""
        result: Floats = self.halves.sum(axis=0)
        return result

    def num_independent(self, questions: TreeQuestions) -> Floats:
        """Return by question the effective number of replies, `n^2 / sum of squared copies` (Kish 1965)."""
        totals = questions.sums(self.counts)
        extra = np.array([sum(m * (m - 1) for m in some.values()) for some in self.copies])
        result: Floats = totals**2 / np.maximum(totals + extra, 1.0)
        return result

    def share_known(self, earlier: ReplyTally) -> float:
        """Return the share of these replies that were given before, word for word."""
        pairs = zip(self.copies, earlier.copies, strict=True)
        known = sum(count for now, then in pairs for reply, count in now.items() if reply in then)
        return known / max(float(self.counts.sum()), 1.0)

    def __add__(self, other: ReplyTally) -> ReplyTally:
        copies = [one + two for one, two in zip(self.copies, other.copies, strict=True)]
        return ReplyTally(self.halves + other.halves, self.legal + other.legal, copies)


def frequencies(questions: TreeQuestions, counts: Floats, *, prior: float = 0.0) -> Floats:
    """Return the shares of the actions of each question, `(count + prior) / (n + prior actions)`; even where n is 0."""
    sizes = questions.num_actions
    totals = questions.sums(counts) + prior * sizes
    empty = totals == 0.0
    shares = (counts + prior) / questions.spread(np.where(empty, 1.0, totals))
    result: Floats = np.where(questions.spread(empty), 1.0 / questions.spread(sizes.astype(float)), shares)
    return result


def variances(questions: TreeQuestions, rows: Floats, slopes: Floats) -> Floats:
    """Return by question the variance of one reply's value, where an action's value is the derivative by its share."""
    first, second = questions.sums(rows * slopes), questions.sums(rows * slopes**2)
    result: Floats = np.maximum(second - first**2, 0.0)  # the difference of equal numbers may be below 0 by rounding
    return result


def apportion_replies(weights: Floats, total: int) -> Ints:
    """Share a number of replies by weights: whole numbers by the largest remainders."""
    exact = weights / weights.sum() * total
    numbers: Ints = np.floor(exact).astype(np.int64)
    for index in np.argsort(numbers - exact, kind="stable")[: total - int(numbers.sum())]:
        numbers[index] += 1
    return numbers


def deal_halves(actions: Sequence[Sequence[int]], questions: TreeQuestions, after: Sequence[int]) -> Floats:
    """Deal the replies to each question, as indices of actions, to the halves in turn; `after` counts earlier ones."""
    halves = np.zeros((2, int(questions.slots[-1])))
    for number, replies in enumerate(actions):
        first = questions.slots[number]
        for place, action in enumerate(replies, after[number]):
            # every second question begins with the other half, which would be empty after one reply to each
            halves[(place + number) % 2, first + action] += 1.0
    return halves
