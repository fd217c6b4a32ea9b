"""Check of `independent_rounds`: each round of play is one of its kinds, and the move that ends it draws for the next.

Exact figures are those of one round where this is declared, so a round that knows of an earlier one, or is told by its
number, gives wrong figures without a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Seat
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.walk import VerifiedGame, every_episode
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key
from stratagem.games.tree_walk import walk

_NODES = 100_000
"""Largest number of nodes of a round."""
_ENUMERATED = 20
"""Number of episodes along which all outcomes of each move are compared."""
Shown = Sequence[tuple[Seat, Any]]


def independent_rounds(case: VerifiedGame) -> str:
    """Check that what seats see in a round of play is what its kind of round shows when it is walked alone."""
    game = case.game
    if not game.spec.independent_rounds:
        raise NotApplicable("rounds may depend on each other")
    for number in range(_ENUMERATED):
        _ends_alike(case, case.key.at("ends", number))
    try:
        tree = walk(game, _NODES, one_round=True)
    except CannotCompute as error:
        if "nodes" in str(error):
            raise NotApplicable(str(error)) from error
        raise BrokenRule(str(error), PlayedPath(case.key)) from error
    by_number = {
        number: [(known.seat, known.view.facts) for known in kind.sets]
        for kind in tree.kinds
        for number in kind.numbers
    }
    done = every_episode(case, lambda case, key: _along(case, key, by_number))
    return f"{done}, each round as one of {len(tree.kinds)} kinds"


def _along(case: VerifiedGame, key: Key, by_number: Mapping[int, Shown]) -> None:
    kinds, number = case.game.spec.independent_rounds, 0
    for here in case.walk(key):
        number += here.result is not None and here.result.closed
        for seat in here.state.to_act:
            if (seat, here.state.view(seat).facts) not in by_number[number % kinds]:
                raise BrokenRule(
                    f"in round {number + 1} seat {seat} sees what no such round shows by itself, so "
                    "`independent_rounds` does not hold",
                    here.transcript,
                )


def _ends_alike(case: VerifiedGame, key: Key) -> None:
    """Follow one line of play through enumerated chance, and compare the outcomes of each move that ends a round."""
    state, turn = next(starts(case.game))[1], 0
    while not state.over:
        branches = list(outcomes(state, case.joint(state, key.at("player", turn))))
        results = [result for _, _, result in branches]
        if results[0].closed and any(result != results[0] for result in results):
            raise BrokenRule(
                "the result of a move that ends a round depends on what is drawn in it, so "
                "`independent_rounds` does not hold: let an earlier move draw it",
                PlayedPath(key),
            )
        state = branches[key.at("outcome", turn).integer(len(branches))][1]
        turn += 1
