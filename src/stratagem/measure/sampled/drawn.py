"""Replies drawn from a known policy: a source for simulations, which say how often limits hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Literal

import numpy as np

from stratagem.games.key import Key
from stratagem.measure.sampled.questions import Floats, Ints, TreeQuestions
from stratagem.measure.sampled.tally import ReplyTally, deal_halves


class ReplySource:
    """Source of replies by a policy of the questions; some may be illegal, and some come from a cache."""

    def __init__(
        self, questions: TreeQuestions, rows: Floats, key: Key, *, illegal_rate: float = 0.0, cache_rate: float = 0.0
    ) -> None:
        """`illegal_rate` is the share of illegal replies, `cache_rate` that of replies which were given before."""
        self._questions = questions
        self._rows = rows
        self._generator = np.random.default_rng(key.at("drawn").value)
        self._illegal_rate, self._cache_rate = illegal_rate, cache_rate
        self._defaults = default_actions(questions) if illegal_rate else np.zeros(len(questions), dtype=np.int64)
        self._caches: list[list[tuple[int, bool]]] = [[] for _ in range(len(questions))]
        self._asked = [0] * len(questions)

    @property
    def played(self) -> Floats:
        """Policy that is played: the game's own action in place of an illegal reply."""
        played = (1.0 - self._illegal_rate) * self._rows
        played[self._questions.slots[:-1] + self._defaults] += self._illegal_rate
        return played

    def __call__(self, numbers: Ints) -> ReplyTally:
        """Draw so many replies to each question."""
        places = [self._places(question, int(number)) for question, number in enumerate(numbers)]
        drawn = [[cache[place] for place in some] for cache, some in zip(self._caches, places, strict=True)]
        halves = deal_halves([[action for action, _ in replies] for replies in drawn], self._questions, self._asked)
        legal = np.zeros(halves.shape[1])
        for first, replies in zip(self._questions.slots, drawn, strict=False):
            for action, is_legal in replies:
                legal[first + action] += is_legal
        self._asked = [had + int(number) for had, number in zip(self._asked, numbers, strict=True)]
        copies = [Counter[Hashable](some if self._cache_rate else ()) for some in places]
        return ReplyTally(halves, legal, copies)

    def _places(self, question: int, number: int) -> list[int]:
        """Return the place in the cache of each reply to a question."""
        cache = self._caches[question]
        hits = self._generator.random(number) < self._cache_rate
        hits[0:1] &= bool(cache)
        sizes = np.cumsum(~hits) + len(cache)
        cache.extend(self._fresh(question, int((~hits).sum())))
        places: list[int] = np.where(hits, (self._generator.random(number) * sizes).astype(int), sizes - 1).tolist()
        return places

    def _fresh(self, question: int, number: int) -> list[tuple[int, bool]]:
        first, after = self._questions.slots[question : question + 2]
        actions = self._generator.choice(after - first, size=number, p=self._rows[first:after])
        legal = self._generator.random(number) >= self._illegal_rate
        played = np.where(legal, actions, self._defaults[question])
        return list(zip(played.tolist(), legal.tolist(), strict=True))


Memory = Literal["all", "last", "drift", "worsen"]


class MemorySource:
    """Source of replies that depend on the earlier ones to the same question, though each is drawn and none is named.

    With memory `all` a reply is at a rate one of the earlier ones, each alike, and else drawn by the policy. With
    `last` it is at that rate the one before. With `drift` the t-th reply is random play with probability rate^t, and
    with `worsen` with probability 1 - rate^t.
    """

    def __init__(self, questions: TreeQuestions, rows: Floats, key: Key, memory: Memory, rate: float) -> None:
        self._questions, self._rows, self._memory, self._rate = questions, rows, memory, rate
        self._generator = np.random.default_rng(key.at("remembered").value)
        self.replies: list[list[int]] = [[] for _ in range(len(questions))]
        """Actions by question in the order of the replies."""
        self._played, self._before, self._last = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(questions))

    @property
    def played_last(self) -> Floats:
        """Mean policy of the replies of the last call, as of the second stage."""
        return (self._played - self._before) / self._questions.spread(self._last)

    @property
    def played(self) -> Floats:
        """Mean, over the replies to each question, of the policy by which each was drawn."""
        numbers = np.array([len(some) for some in self.replies], dtype=float)
        return self._played / self._questions.spread(numbers)

    def __call__(self, numbers: Ints) -> ReplyTally:
        """Draw so many replies to each question."""
        before = [len(some) for some in self.replies]
        self._before, self._last = self._played.copy(), np.asarray(numbers, dtype=float)
        for question, number in enumerate(numbers):
            for _ in range(int(number)):
                self._reply(question)
        drawn = [some[had:] for some, had in zip(self.replies, before, strict=True)]
        halves = deal_halves(drawn, self._questions, before)
        return ReplyTally(halves, halves.sum(axis=0), [Counter() for _ in drawn])

    def _reply(self, question: int) -> None:
        first, after = self._questions.slots[question : question + 2]
        past, policy = self.replies[question], self._rows[first:after]
        if self._memory in ("drift", "worsen"):
            fading = self._rate ** len(past)
            other = np.full(after - first, 1.0 / (after - first))
            weight = fading if self._memory == "drift" else 1.0 - fading
        else:
            remembered = past[-1:] if self._memory == "last" else past
            other = np.bincount(remembered, minlength=after - first) / max(len(remembered), 1)
            weight = self._rate if past else 0.0
        policy = (1.0 - weight) * policy + weight * other
        self._played[first:after] += policy
        past.append(int(self._generator.choice(after - first, p=policy)))


def default_actions(questions: TreeQuestions) -> Ints:
    """Return by question the index of the action that the game plays for an illegal reply."""
    return np.array(
        [known.actions.index(known.view.game.default_action(known.view.facts)) for known in questions.sets],
        dtype=np.int64,
    )
