"""Report of a drawn token or of scores through log-probabilities, which is all that a vLLM server sends back.

A processor writes a row of the logits, the server returns the log-probabilities of the row's best tokens, and
differences of log-probabilities are differences of what was written. The best token has the logit 1. A reply's token
has one helper below it, whose logit is the token's own log-probability - 1; the tokens of a kept set stand between the
two with the logit 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count

from stratagem.engines.sampler import Drawn

Entries = Sequence[tuple[int, float]]
"""Tokens and their logits in a row; all others are minus infinity."""
TOP = 1.0
"""Logit of the best token."""
_ABSENT = -9000.0
"""Log-probability below which a server means minus infinity."""


def outside(tokens: Collection[int]) -> int:
    """Return the smallest token that is none of these."""
    known = set(tokens)
    return next(token for token in count() if token not in known)


def drawn_entries(drawn: Drawn, kept: Collection[int] = ()) -> Entries:
    """Return the row of a token that was drawn, from a kept set where one is to be reported."""
    others = [(token, 0.0) for token in kept if token != drawn.token]
    helper = outside({drawn.token, *kept})
    return [(drawn.token, TOP), *others, (helper, drawn.logprob - 1.0)]


def read_drawn(token: int, best: Mapping[int, float]) -> tuple[float, tuple[int, ...]] | None:
    """Return a token's log-probability and the reported kept set; None where the row was not a drawn token's."""
    present = {other: value for other, value in best.items() if value > _ABSENT}
    helper = min(present, key=present.__getitem__, default=token)
    if token not in present or helper == token:
        return None
    kept = tuple(sorted(present.keys() - {helper})) if len(present) > 2 else ()
    return min(0.0, present[helper] - present[token] + TOP + 1.0), kept


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
