"""Check of state keys: tables that agree in every seat's key, the round and the turn have the same future.

Where the spec says `markov`, exact evaluation takes such tables as one, so a key that says too little gives wrong
numbers without a word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Any

from stratagem.games.base import State
from stratagem.games.conformance.report import Actions, BrokenRule, NotApplicable
from stratagem.games.conformance.walk import EpisodePosition, VerifiedGame, every_episode
from stratagem.games.enumeration import outcomes
from stratagem.games.key import Key

_PAIRS = 400
"""Number of pairs of tables to compare."""
_MOVES = 6
"""Number of joint actions for each pair."""
_OUTCOMES = 500
_TOLD = 90
"""Number of characters of a future in a message."""
Future = tuple[str, Hashable]
"""Result of a move, and the keys of the table after it; None at the end."""
Known = dict[Hashable, tuple[EpisodePosition, State[Any]]]


def state_keys(case: VerifiedGame) -> str:
    """Check that tables with equal keys have equal choices, payoffs and transition probabilities."""
    if not case.game.spec.markov:
        raise NotApplicable("the game does not declare that its state keys fix the future")
    known: Known = {}
    pairs: list[EpisodePosition] = []
    done = every_episode(case, lambda case, key: _meet(case, key, known, pairs))
    if not pairs:
        raise NotApplicable(f"in {done} no two tables had the same keys")
    return f"{done}, {len(pairs)} pairs of tables"


def situation(state: State[Any]) -> Hashable:
    """Return the declared keys of a table."""
    views = (state.view(seat) for seat in range(state.game.spec.seats))
    return state.round, state.to_act, *(view.state_key for view in views)


def _meet(case: VerifiedGame, key: Key, known: Known, pairs: list[EpisodePosition]) -> None:
    for here in case.walk(key):
        if here.state.over:
            return
        place = situation(here.state)
        other = known.get(place)
        if other is None:
            known[place] = here, here.state.fork()
        elif len(pairs) < _PAIRS:
            pairs.append(here)
            _compare(case, here, *other)


def _compare(case: VerifiedGame, here: EpisodePosition, other: EpisodePosition, theirs: State[Any]) -> None:
    for seat in here.state.to_act:
        if list(here.state.view(seat).choices) != list(theirs.view(seat).choices):
            raise BrokenRule(f"equal state keys offer seat {seat} other choices", here.transcript, other.transcript)
    for number in range(_MOVES):
        actions = case.joint(here.state, here.dice.at("move", number))
        mine, yours = _futures(here.state, actions), _futures(theirs, actions)
        if {place for place in mine.keys() | yours.keys() if abs(mine[place] - yours[place]) > 1e-9}:
            futures = f"{_describe_futures(mine)} and to {_describe_futures(yours)}"
            says = (
                f"from equal state keys {actions} leads to {futures}: let the facts tell "
                "what each seat has seen and done, or declare markov=False"
            )
            raise BrokenRule(says, here.transcript, other.transcript)


def _futures(state: State[Any], actions: Actions) -> defaultdict[Future, float]:
    """Return the payoffs and successors of a move, with their probabilities."""
    futures: defaultdict[Future, float] = defaultdict(float)
    for number, (probability, after, result) in enumerate(outcomes(state, actions)):
        if number == _OUTCOMES:
            raise NotApplicable(f"a move can come out in more than {_OUTCOMES} ways")
        futures[repr(result), None if after.over else situation(after)] += probability
    return futures


def _describe_futures(futures: Mapping[Future, float]) -> str:
    ways = sorted(((place, p) for place, p in futures.items() if p), key=repr)[:2]
    return " or ".join(f"{_result(*place)} with probability {probability:.3g}" for place, probability in ways)


def _result(result: str, after: Hashable) -> str:
    """Shorten a result and the keys after it."""
    paid = result.removeprefix("RoundResult(").partition(", keep=")[0]
    return paid if after is None else f"{paid}, then {str(after)[:_TOLD]}"
