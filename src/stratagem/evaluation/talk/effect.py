"""Effect of messages by intervention: how far two policies are apart, and the returns.

The turn stays, and only what is said in it changes. The speaker's later play is part of `Signalling.returns`, which
knows the message, so these are the figures of the receiver alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

from stratagem.evaluation.talk.signalling import Returns, Signalling

T = TypeVar("T")


def variation(one: Mapping[T, float], other: Mapping[T, float]) -> float:
    """Return the total variation of two distributions: half the sum of the absolute differences."""
    return math.fsum(abs(one.get(action, 0.0) - other.get(action, 0.0)) for action in {**one, **other}) / 2.0


def returns(talk: Signalling) -> Returns:
    """Return the expected returns of the speaker and the receiver."""
    values = [(p, talk.value(known, message)) for (known, message), p in talk.sent.items()]
    return math.fsum(p * own for p, (own, _) in values), math.fsum(p * other for p, (_, other) in values)
