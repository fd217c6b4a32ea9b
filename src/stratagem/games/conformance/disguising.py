"""Check of disguises: under generated other words the game is the same game, and no plain word is left in its texts."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.base.errors import CannotCompute
from stratagem.games.conformance.report import BrokenRule, NotApplicable
from stratagem.games.conformance.walk import VerifiedGame
from stratagem.games.disguise.disguise import generate_disguise
from stratagem.games.disguise.proof import (
    NoIsomorphism,
    TextComparison,
    compare_texts,
    left_in_plain_words,
    prove_each,
)
from stratagem.games.key import Key

_BUDGET = 1_500
"""Number of moves of the tree that a check walks."""
_EPISODES = 3
_SEEDS = (0, 1)


def disguise(case: VerifiedGame) -> str:
    """Check two generated disguises on some episodes, and on the whole tree if it is small."""
    try:
        disguises = [generate_disguise(case.game, seed) for seed in _SEEDS]
    except CannotCompute as reason:
        raise NotApplicable(str(reason)) from reason
    episodes = min(_EPISODES, case.episodes)
    comparisons = list(map(TextComparison, disguises))
    for key in case.tables(number=episodes):
        _look(case, key, comparisons)
    try:
        proof = prove_each(disguises, case.game, budget=_BUDGET, episodes=episodes, key=case.key)
    except NoIsomorphism as fault:
        raise BrokenRule(str(fault)) from fault
    return f"{len(disguises)} generated, {proof}"


def _look(case: VerifiedGame, key: Key, comparisons: Sequence[TextComparison]) -> None:
    for here in case.closer(key):
        try:
            compare_texts(comparisons, here.state)
        except NoIsomorphism as fault:
            raise BrokenRule(str(fault), here.transcript) from fault
        for seat in here.state.to_act:
            view = here.state.view(seat)
            for comparison in comparisons:
                if left := left_in_plain_words(comparison.disguise, view):
                    says = f"a disguise of seat {seat} leaves a word of the game in {left!r}: see `Game.vocabulary`"
                    raise BrokenRule(says, here.transcript)
