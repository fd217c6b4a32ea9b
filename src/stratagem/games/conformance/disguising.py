"""Check of disguises: under generated other words the game is the same game, and no plain word is left in its texts."""

from __future__ import annotations

from stratagem.errors import CannotCompute
from stratagem.games.conformance.report import Broken, NotApplicable
from stratagem.games.conformance.walk import Case
from stratagem.games.disguise.disguise import Disguise, generated
from stratagem.games.disguise.proof import NoIsomorphism, left_in_plain_words, prove

_BUDGET = 1_500
"""Number of moves of the tree that a check walks."""
_EPISODES = 3
_SEEDS = (0, 1)


def disguise(case: Case) -> str:
    """Check two generated disguises on the whole tree, or on some episodes of a larger one."""
    try:
        disguises = [generated(case.game, seed) for seed in _SEEDS]
    except CannotCompute as reason:
        raise NotApplicable(str(reason)) from reason
    _no_plain_words(case, disguises[0])
    episodes = min(_EPISODES, case.episodes)
    try:
        proofs = [prove(one, case.game, budget=_BUDGET, episodes=episodes, key=case.key) for one in disguises]
    except NoIsomorphism as fault:
        raise Broken(str(fault)) from fault
    return f"{len(disguises)} generated, {proofs[0]}"


def _no_plain_words(case: Case, disguise: Disguise) -> None:
    for key in case.tables(number=min(_EPISODES, case.episodes)):
        for here in case.closer(key):
            for seat in here.state.to_act:
                if left := left_in_plain_words(disguise, here.state.view(seat)):
                    says = f"the disguise of seat {seat} leaves a word of the game in {left!r}: see `Game.vocabulary`"
                    raise Broken(says, here.transcript)
