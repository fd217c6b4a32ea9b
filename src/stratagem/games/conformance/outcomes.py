"""Check of enumerated chance: the probabilities of all starts, and of all outcomes of a move, sum to 1.

Exact evaluation weighs states by these probabilities, so a sum of 2 doubles every figure without a word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.walk import VerifiedGame, every_episode
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key

_OUTCOMES = 500
"""Largest number of outcomes of a draw; one with more is left out."""
_CLOSE = 1e-9
"""Rounding of a sum of probabilities."""


def enumerated_outcomes(case: VerifiedGame) -> str:
    """Check that the probabilities of starts and of outcomes of moves are positive and sum to 1."""
    try:
        drawn = [_sum_is_one("the start of the game", starts(case.game), PlayedPath(case.key))]
        done = every_episode(case, lambda case, key: drawn.extend(_along(case, key)))
    except CannotCompute as error:
        raise NotApplicable(str(error)) from error
    if not any(drawn):
        raise NotApplicable(f"in {done} no draw of 2 to {_OUTCOMES} outcomes was met")
    return f"{done}, {sum(drawn)} starts and moves with several outcomes"


def _along(case: VerifiedGame, key: Key) -> list[bool]:
    """Return whether some moves of an episode have several outcomes."""
    try:
        return [
            _sum_is_one(f"the move {actions}", outcomes(here.state, actions), here.transcript)
            for here in case.closer(key)
            if not here.state.over
            for actions in [case.joint(here.state, here.dice.at("outcomes"))]
        ]
    except CannotCompute as error:
        raise NotApplicable(str(error)) from error


def _sum_is_one(what: str, branches: Iterable[tuple[Any, ...]], transcript: PlayedPath) -> bool:
    """Check the probabilities of a draw, and return whether it has several outcomes, and not too many."""
    found = [branch[0] for branch in islice(branches, _OUTCOMES + 1)]
    if len(found) > _OUTCOMES:
        return False
    if min(found, default=0.0) <= 0.0 or abs(math.fsum(found) - 1.0) > _CLOSE:
        raise BrokenRule(
            f"the {len(found)} outcomes of {what} have probabilities of sum {math.fsum(found):g}", transcript
        )
    return len(found) > 1
