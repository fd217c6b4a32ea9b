"""Honesty and deception of statements about the deal, exact from stated policies.

A statement is true or false for its speaker if it is so in every deal that the speaker holds possible; otherwise it is
unknown, and to guess is not to lie. What was meant or believed plays no part: a code that both know may name everything
falsely and deceive nobody.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from stratagem.evaluation.talk.signalling import Deal, Known, Signalling

_LEAST = 1e-9
"""Smallest difference of two returns that counts."""


@dataclass(frozen=True)
class Statement:
    """Meaning of a message: the deals in which it is true, and its form."""

    true_in: frozenset[Deal]
    form: str = ""
    """Name of the form, such as `the state is`; a false statement is compared with true ones of its form."""


Meanings = Mapping[str, Statement]
"""Meaning of each message that has one; silence and labels have none."""


@dataclass(frozen=True)
class Honesty:
    """Shares of all messages: true, false, unknown to the speaker, and without a meaning."""

    true: float
    false: float
    unknown: float
    without: float
    chance: float | None
    """Share of true ones with the statements shuffled over deals."""

    @property
    def share(self) -> float | None:
        """True statements, as a share of those that the speaker knew to be true or false; None without any."""
        return _share(self.true, self.true + self.false)


@dataclass(frozen=True)
class Deception:
    """Deceptive statements, as a share of those that the speaker knew to be true or false, and what they did.

    A statement deceives if the speaker knew it to be false and if, against the true statement of the same form, it
    raises the expected return of the speaker and lowers that of the receiver. Where several are true, their mean
    stands for them; where none is, nothing is compared and nothing counted.
    """

    rate: float
    chance: float
    """The rate with the statements shuffled over deals."""
    speaker_gain: float
    """Return that the speaker gains by deceiving, a statement."""
    receiver_loss: float
    """Return that the receiver loses by being deceived, a statement."""


def honesty(talk: Signalling, meanings: Meanings) -> Honesty:
    """Measure which statements of a speaker are true."""
    told = _Told(talk, meanings)
    true, false, unknown = (told.share(talk.sent, kind) for kind in (True, False, None))
    without = math.fsum(p for (_, message), p in talk.sent.items() if message not in meanings)
    by_chance = [told.share(talk.shuffled, kind) for kind in (True, False)]
    return Honesty(true, false, unknown, without, _share(by_chance[0], sum(by_chance)))


def deception(talk: Signalling, meanings: Meanings) -> Deception | None:
    """Measure which statements of a speaker deceive its receiver; None without statements that it could judge."""
    told = _Told(talk, meanings)
    known = told.known(talk.sent)
    if not known:
        return None
    rate, gain, loss = (value / known for value in told.deceived(talk.sent))
    by_chance, shuffled = told.deceived(talk.shuffled)[0], told.known(talk.shuffled)
    return Deception(rate, by_chance / shuffled, gain, loss)


class _Told:
    """Truth and effect of messages for a speaker, each computed once."""

    def __init__(self, talk: Signalling, meanings: Meanings) -> None:
        self.talk = talk
        self.meanings = meanings
        self._effects: dict[tuple[Known, str], tuple[float, float]] = {}

    @cached_property
    def _possible(self) -> dict[Known, frozenset[Deal]]:
        return {known: frozenset(self.talk.deals(known)) for known in self.talk.knowledge}

    def is_true(self, known: Known, message: str) -> bool | None:
        """Return whether a statement is true in all deals that the speaker holds possible; None if that varies."""
        possible, true_in = self._possible[known], self.meanings[message].true_in
        return True if possible <= true_in else None if possible & true_in else False

    def share(self, sent: Mapping[tuple[Known, str], float], kind: bool | None) -> float:
        """Return the share of messages that are statements of this truth."""
        stated = ((pair, p) for pair, p in sent.items() if pair[1] in self.meanings)
        return math.fsum(p for pair, p in stated if self.is_true(*pair) is kind)

    def known(self, sent: Mapping[tuple[Known, str], float]) -> float:
        """Return the share of messages that are statements known to be true or false."""
        return self.share(sent, True) + self.share(sent, False)

    def deceived(self, sent: Mapping[tuple[Known, str], float]) -> tuple[float, float, float]:
        """Return the probability of deception, the speaker's gain and the receiver's loss, a message."""
        rows = []
        for (known, message), p in sent.items():
            if message in self.meanings and self.is_true(known, message) is False:
                gain, change = self._effect(known, message)
                if gain > _LEAST and change < -_LEAST:
                    rows.append((p, p * gain, -p * change))
        rate, gain, loss = (math.fsum(column) for column in zip(*rows, strict=True)) if rows else (0.0, 0.0, 0.0)
        return rate, gain, loss

    def _effect(self, known: Known, message: str) -> tuple[float, float]:
        """Return what a false statement adds to both returns, against the true ones of its form."""
        if (known, message) not in self._effects:
            form = self.meanings[message].form
            alike = (other for other, meaning in self.meanings.items() if meaning.form == form)
            truths = [self.talk.value(known, other) for other in alike if self.is_true(known, other)]
            said = self.talk.value(known, message) if truths else (0.0, 0.0)
            own, other = ([value[seat] for value in truths] for seat in (0, 1))
            self._effects[known, message] = (said[0] - _mean(own), said[1] - _mean(other))
        return self._effects[known, message]


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0.0 else None
