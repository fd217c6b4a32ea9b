"""Checks of enumerated chance: probabilities sum to 1, and a walk by positions meets the tree of states.

Exact evaluation weighs states by these probabilities, so a sum of 2 doubles every figure without a word. Exact figures
rest on the tree, so positions that name another key, or pay another sum, give wrong figures without a word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Place, Positions
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.walk import MOVES, VerifiedGame, every_episode
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key
from stratagem.games.positions import SharedPositions, StatePositions, places_after, positions_of

_OUTCOMES = 500
"""Largest number of outcomes of a draw; one with more is left out, or ends an episode."""
_CLOSE = 1e-9
"""Rounding of a probability, or of a sum of them or of payoffs."""


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


def check_positions(case: VerifiedGame) -> str:
    """Check positions against states along random episodes: who acts, keys, choices, chances and payoffs."""
    positions = positions_of(case.game, None)
    if type(positions) is StatePositions:
        raise NotApplicable("the game is walked through its states")
    if type(positions) is SharedPositions:
        positions = SharedPositions(case.game, None, from_first=True)  # few episodes meet a situation twice
    if _are_many(starts(case.game)):
        raise NotApplicable(f"the start of the game has more than {_OUTCOMES} outcomes")
    return every_episode(case, lambda case, key: _follow(case, key, positions))


def _follow(case: VerifiedGame, key: Key, positions: Positions) -> None:
    case.latest = PlayedPath(key)
    states = StatePositions(case.game, None)
    place, known = positions.start(), states.start()
    for step in range(MOVES):
        _compare_places(case, place, known)
        at, to_act, chosen, _, _ = known
        if to_act is None:
            for (chance, _), (true, _) in zip(place[0], at, strict=True):
                if _differ(chance, true):
                    raise BrokenRule(f"a draw has the probability {chance:g}, and by play {true:g}", case.latest)
            branch = key.at("outcome", step).integer(len(at))
            (_, place), (_, known) = place[0][branch], at[branch]
        elif not to_act:
            return
        else:
            choice = _compare_choices(case, positions, place, known, key.at("choice", step))
            theirs, ours = states.options(at, to_act[len(chosen)]), positions.options(place[0], to_act[len(chosen)])
            moves = (*chosen, theirs.moves[choice])
            if len(moves) == len(to_act) and _are_many(outcomes(at, dict(zip(to_act, moves, strict=True)))):
                return
            (place,) = places_after(positions, place, ours.moves[choice : choice + 1])
            (known,) = places_after(states, known, theirs.moves[choice : choice + 1])


def _compare_places(case: VerifiedGame, place: Place, known: Place) -> None:
    at, to_act, _, returns, rounds = place
    true_at, true_to_act, _, true_returns, true_rounds = known
    if to_act != true_to_act or (to_act is None and len(at) != len(true_at)):
        raise BrokenRule(f"a position lets {to_act} act, and play lets {true_to_act}", case.latest)
    if rounds != true_rounds or any(map(_differ, returns, true_returns)):
        raise BrokenRule(
            f"a position has paid {returns} in {rounds} rounds, and play {true_returns} in {true_rounds}", case.latest
        )


def _compare_choices(case: VerifiedGame, positions: Positions, place: Place, known: Place, key: Key) -> int:
    """Compare what the seat that chooses next knows and may do, and draw one of its actions."""
    state, to_act, chosen, _, _ = known
    assert to_act
    seat, at = to_act[len(chosen)], place[0]
    view, shown = state.view(seat), positions.state(at).view(seat)
    if positions.key(at, seat) != view.info_key or shown.facts != view.facts:
        raise BrokenRule(
            f"seat {seat} stands in the set {positions.key(at, seat)!r}, and by play in {view.info_key!r}", case.latest
        )
    actions = positions.options(at, seat).actions
    if actions != tuple(view.choices):
        raise BrokenRule(f"seat {seat} may play {actions}, and by play {tuple(view.choices)}", case.latest)
    return key.integer(len(actions))


def _are_many(branches: Iterable[Any]) -> bool:
    return sum(1 for _ in islice(branches, _OUTCOMES + 1)) > _OUTCOMES


def _differ(one: float, other: float) -> bool:
    return not math.isclose(one, other, abs_tol=_CLOSE)
