"""One message in expectation: the deals, who sees what of them, two stated policies, and the returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.players.base import Mix, is_probability

K = TypeVar("K", bound=Hashable)
Deal = Hashable
"""All that chance has drawn, such as the state of a sender-receiver game, or both cards of Kuhn poker."""
Known = Hashable
"""Part of a deal that a seat sees, at one public history."""
Returns = tuple[float, float]
"""Expected returns of the speaker and of the receiver."""


def everything(deal: Deal) -> Known:
    """Return the deal: a seat that sees all of it."""
    return deal


def nothing(deal: Deal) -> Known:
    """Return None: a seat that sees nothing of the deal."""
    return None


@dataclass(frozen=True, eq=False)
class Signalling:
    """A speaker that sends one message, and a receiver that answers it with one action, at one public history."""

    prior: Mapping[Deal, float]
    """Probability of each deal at this history."""
    says: Mapping[Known, Mix]
    """Speaker's policy: probability of each message, by what the speaker sees."""
    answers: Mapping[tuple[Known, str], Mix]
    """Receiver's policy: probability of each action, by what the receiver sees and the message."""
    returns: Callable[[Deal, str, str], Returns]
    """Expected returns of both after a deal, a message and an action."""
    speaker_sees: Callable[[Deal], Known] = everything
    receiver_sees: Callable[[Deal], Known] = nothing

    def __post_init__(self) -> None:
        if min(self.prior.values(), default=-1.0) < 0.0 or abs(math.fsum(self.prior.values()) - 1.0) > 1e-9:
            raise BadParameter("The probabilities of the deals must be at least 0 and sum to 1.")
        for known in self.knowledge:
            if not is_probability(self.says.get(known, {})):
                raise BadParameter(f"The speaker's messages at {known!r} must have probabilities that sum to 1.")

    @cached_property
    def knowledge(self) -> dict[Known, float]:
        """Probability of what the speaker sees."""
        return _add_probabilities((self.speaker_sees(deal), p) for deal, p in self.prior.items() if p > 0.0)

    @cached_property
    def heard(self) -> dict[Known, float]:
        """Probability of what the receiver sees, before any message."""
        return _add_probabilities((self.receiver_sees(deal), p) for deal, p in self.prior.items() if p > 0.0)

    @cached_property
    def sent(self) -> dict[tuple[Known, str], float]:
        """Joint probability of what the speaker sees and of the message."""
        pairs = (
            (known, message, p * share) for known, p in self.knowledge.items() for message, share in self._mix(known)
        )
        return _add_probabilities(((known, message), p) for known, message, p in pairs if p > 0.0)

    @cached_property
    def messages(self) -> dict[str, float]:
        """Probability of each message, whatever the deal."""
        return _add_probabilities((message, p) for (_, message), p in self.sent.items())

    @cached_property
    def shuffled(self) -> dict[tuple[Known, str], float]:
        """The same with messages shuffled over deals: as likely, and independent of what the speaker sees."""
        return {
            (known, message): p * share
            for known, p in self.knowledge.items()
            for message, share in self.messages.items()
        }

    def deals(self, known: Known) -> dict[Deal, float]:
        """Return the probability of each deal that the speaker holds possible."""
        total = self.knowledge[known]
        return {deal: p / total for deal, p in self.prior.items() if p > 0.0 and self.speaker_sees(deal) == known}

    def answer(self, heard: Known, message: str) -> Mix:
        """Return the receiver's policy after a message."""
        mix = self.answers.get((heard, message), {})
        if not is_probability(mix):
            raise CannotCompute(f"The receiver's policy after {message!r} is no mixture of actions: {dict(mix)}.")
        return mix

    def value(self, known: Known, message: str) -> Returns:
        """Return the expected returns of both if the speaker, who sees this, sends this message."""
        paid = [
            (p * share, self.returns(deal, message, action))
            for deal, p in self.deals(known).items()
            for action, share in self.answer(self.receiver_sees(deal), message).items()
        ]
        return math.fsum(p * own for p, (own, _) in paid), math.fsum(p * other for p, (_, other) in paid)

    def _mix(self, known: Known) -> list[tuple[str, float]]:
        return list(self.says[known].items())


def _add_probabilities(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    """Add up probabilities by key."""
    total: dict[K, float] = {}
    for key, p in pairs:
        total[key] = total.get(key, 0.0) + p
    return total
