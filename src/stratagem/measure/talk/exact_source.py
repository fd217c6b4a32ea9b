"""Exact sources of talk: situations with their probabilities, and a single message between two stated policies."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stratagem.games.talk.language import Kind
from stratagem.measure.talk.signalling import Deal, Known, Returns, Signalling
from stratagem.measure.talk.source import Arm, C, Joint, Shuffle, T, TalkSource, Utterance, WeighedItem


class ExactSource(TalkSource[float]):
    """Situations with their probabilities, so that every figure is a number."""

    unreached = 0.0
    judges_lies = True

    def rate(self, judged: Sequence[tuple[WeighedItem[T], bool]]) -> float | None:
        return self.mean(judged)

    def mean(self, valued: Sequence[tuple[WeighedItem[T], float]]) -> float | None:
        total = math.fsum(one.weight for one, _ in valued)
        return math.fsum(one.weight * value for one, value in valued) / total if total > 0.0 else None

    def shuffle_promises(self, items: Sequence[WeighedItem[C]]) -> Iterator[Shuffle[C]]:
        groups: dict[Hashable, list[WeighedItem[C]]] = {}
        for one in items:
            groups.setdefault(one.item.public, []).append(one)
        weights = {public: math.fsum(one.weight for one in group) for public, group in groups.items()}
        yield Shuffle(
            [
                (where.weight * what.weight / weights[public], what.item, where.item)
                for public, group in groups.items()
                for where in group
                for what in group
            ]
        )


@dataclass(frozen=True)
class Meaning:
    """Meaning of a message: the deals in which it is true, and its form."""

    true_in: frozenset[Deal]
    form: str = ""
    """Name of the form, such as `the state is`; a false statement is compared with true ones of its form."""


Meanings = Mapping[str, Meaning]
"""Meaning of each message that has one; silence and labels have none."""


@dataclass(frozen=True)
class Signal:
    """Message, and what its speaker sees."""

    source: SignallingSource
    known: Known
    message: str
    public: Hashable = None

    @property
    def text(self) -> str:
        return "" if self.message in self.source.silences else self.message

    @property
    def truth(self) -> bool | None:
        """Truth of a statement in all deals that the speaker holds possible; None if that varies."""
        if self.message not in self.source.meanings:
            return None
        possible, true_in = self.source.possible[self.known], self.source.meanings[self.message].true_in
        return True if possible <= true_in else None if possible & true_in else False

    def truth_at(self, other: Utterance) -> bool | None:
        assert isinstance(other, Signal)
        return Signal(self.source, other.known, self.message).truth


class SignallingSource(ExactSource):
    """One message at one public history, for which deals, policies and returns are given."""

    def __init__(self, talk: Signalling, meanings: Meanings, silences: Iterable[str] = ()) -> None:
        self.talk, self.meanings, self.silences = talk, meanings, frozenset(silences)

    @cached_property
    def possible(self) -> dict[Known, frozenset[Deal]]:
        """Deals that the speaker holds possible, by what it sees."""
        return {known: frozenset(self.talk.deals(known)) for known in self.talk.knowledge}

    def messages(self) -> list[WeighedItem[Utterance]]:
        return self._weigh_utterances(self.talk.sent)

    def shuffled_messages(self) -> Iterator[Shuffle[Utterance]]:
        rows = self._weigh_utterances(self.talk.shuffled)
        yield Shuffle([(one.weight, one.item, one.item) for one in rows])

    def _weigh_utterances(self, sent: Joint) -> list[WeighedItem[Utterance]]:
        return [WeighedItem(Signal(self, known, message), p) for (known, message), p in sent.items()]

    def commitments(self, kind: Kind) -> tuple[()]:
        return ()

    def joint(self) -> list[tuple[float, Joint]]:
        return [(1.0, self.talk.sent)]

    def signals(self) -> list[tuple[float, Signalling]]:
        return [(1.0, self.talk)]

    def against_truth(self, said: Utterance) -> Returns | None:
        assert isinstance(said, Signal)
        form = self.meanings[said.message].form
        alike = (Signal(self, said.known, other) for other, meaning in self.meanings.items() if meaning.form == form)
        truths = [self.talk.value(said.known, other.message) for other in alike if other.truth]
        return difference(self.talk.value(said.known, said.message), truths)

    def returns(self, arm: Arm = "talk") -> Returns | None:
        if arm != "talk":
            return None
        values = [(p, self.talk.value(known, message)) for (known, message), p in self.talk.sent.items()]
        return math.fsum(p * own for p, (own, _) in values), math.fsum(p * other for p, (_, other) in values)


def difference(said: Returns, truths: Sequence[Returns]) -> Returns | None:
    """Return what a statement adds to both returns, against the mean of the true ones; None without one."""
    if not truths:
        return None
    own, other = (math.fsum(value[who] for value in truths) / len(truths) for who in (0, 1))
    return said[0] - own, said[1] - other
