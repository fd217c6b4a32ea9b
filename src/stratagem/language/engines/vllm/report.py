"""Report of a drawn token or of scores through log-probabilities, which is all that a vLLM server sends back.

A processor writes a row of the logits, the server returns the log-probabilities of the row's best tokens, and
differences of log-probabilities are differences of what was written. The best token has the logit 1. A reply's token
has one helper below it, whose logit is the token's own log-probability - 1; the other tokens of a kept set stand
between the two with the logit 0. Where these are more than the server reports, a single one stands there with 1/2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count

from stratagem.language.engines.kept_set import KeptSet
from stratagem.language.engines.sampler import SampledToken

Entries = Sequence[tuple[int, float]]
"""Tokens and their logits in a row; all others are minus infinity."""
TOP = 1.0
"""Logit of the best token."""
_TOO_MANY = 0.5
"""Logit that says that a kept set has too many tokens to be reported."""
_ABSENT = -9000.0
"""Log-probability below which a server means minus infinity."""


def outside(tokens: Collection[int]) -> int:
    """Return the smallest token that is none of these."""
    known = set(tokens)
    return next(token for token in count() if token not in known)


def drawn_entries(drawn: SampledToken, most: int) -> Entries:
    """Return the row of a token that was drawn, with its kept set if it has one and `most` entries hold it."""
    kept = drawn.allowed if isinstance(drawn.allowed, KeptSet) else ()
    others = [(token, 0.0) for token in kept if token != drawn.token]
    if len(others) + 2 > most:
        others = [(others[0][0], _TOO_MANY)]
    helper = outside({drawn.token, *(token for token, _ in others)})
    return [(drawn.token, TOP), *others, (helper, drawn.logprob - 1.0)]


def read_drawn(token: int, best: Mapping[int, float]) -> tuple[float, tuple[int, ...]] | None:
    """Return a token's log-probability, and its kept set or the token alone; None where the row was not such a one.

    The set is empty where it had too many tokens.
    """
    present = {other: value for other, value in best.items() if value > _ABSENT}
    helper = min(present, key=present.__getitem__, default=token)
    if token not in present or helper == token:
        return None
    kept = sorted(present.keys() - {helper})
    complete = all(other == token or present[token] - present[other] > (TOP + _TOO_MANY) / 2 for other in kept)
    return min(0.0, present[helper] - present[token] + TOP + 1.0), tuple(kept) if complete else ()


def value_entries(values: Mapping[int, float]) -> Entries:
    """Return the row of values up to 0 by token; the best token is the smallest other one."""
    return [(outside(values), TOP), *values.items()]


def read_values(tokens: Collection[int], best: Mapping[int, float]) -> dict[int, float] | None:
    """Return the values of these tokens; None where the row was not one of values."""
    anchor = best.get(outside(tokens), _ABSENT)
    if anchor <= _ABSENT or max(best.values()) > anchor:
        return None
    absent = float("-inf")
    found = {token: best.get(token, absent) for token in tokens}
    return {token: value - anchor + TOP if value > _ABSENT else absent for token, value in found.items()}
