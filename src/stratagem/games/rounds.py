"""One round of a game whose rounds know nothing of each other, as play of the whole game has it.

The states and the views are those of the game that is played, with its name, its rules and its number of rounds: a
player that reads words is asked what play asks it. What the last move of a round draws for the next one is no outcome.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.enumeration import Tape, UnsettledDraw, outcomes, starts
from stratagem.games.key import Key

_LONGEST = 10_000
"""Number of turns after which a round is taken to have no end."""
Outcome = tuple[float, State[Any], RoundResult]


def shares_of_rounds(game: Game[Any]) -> list[float]:
    """Return the share of each kind of round among all rounds of a game; one kind where it is taken as a whole."""
    kinds, rounds = max(1, game.spec.independent_rounds), game.spec.rounds
    if rounds is None:
        return [1.0 / kinds] * kinds
    return [len(range(kind, rounds, kinds)) / rounds for kind in range(min(kinds, rounds))]


def round_starts(game: Game[Any], number: int) -> Iterator[tuple[float, State[Any]]]:
    """Yield every state at the beginning of a round, with its probability; earlier rounds are played by default."""
    if number == 0:
        yield from starts(game)
        return
    _, state = next(starts(game))
    for _ in range(_LONGEST):
        actions: dict[Seat, str | None] = {seat: game.default_action(state.view(seat).facts) for seat in state.to_act}
        branches = list(outcomes(state, actions))
        number -= branches[0][2].closed
        if number == 0:
            begun = [(chance, after) for chance, after, result in branches if result == branches[0][2]]
            total = math.fsum(chance for chance, _ in begun)
            yield from ((chance / total, after) for chance, after in begun)
            return
        state = branches[0][1]
        if state.over:
            raise CannotCompute(f"{game.spec.name} is over before a round that its `independent_rounds` counts.")
    raise CannotCompute(f"A round of {game.spec.name} has no end if every seat plays its default action.")


def round_outcomes(state: State[Any], actions: Mapping[Seat, str | None]) -> Iterator[Outcome]:
    """Yield every outcome of a move with its probability; the draws of the move that ends the round are no outcomes."""
    tape = state.chance if isinstance(state.chance, Tape) else Tape({})
    after = state.fork(tape)
    try:
        yield 1.0, after, after.play(actions)
    except UnsettledDraw:
        after = state.fork(_Foremost(tape.settled))
        result = after.play(actions)
        if result.closed:  # by the contract of `independent_rounds`, which conformance checks
            yield 1.0, after, result
        else:
            yield from outcomes(state, actions)


class _Foremost(Tape):
    """Source of chance that settles every further draw with its first outcome."""

    __slots__ = ()

    def at(self, *path: int | str) -> _Foremost:
        return _Foremost(self.settled, self.path + path)

    def choose(self, weights: Sequence[float]) -> int:
        known = self.settled.get(self.path)
        return next(index for index, weight in enumerate(weights) if weight > 0.0) if known is None else known


def turns_before(game: Game[Any], number: int, key: Key) -> int:
    """Return the number of turns before a round in an episode that the seats play at random."""
    state, turns = game.start(key.at("chance")), 0
    while number > 0 and not state.over:
        played: dict[Seat, str | None] = {
            seat: state.view(seat).choices.sample(key.at("action", turns, seat)) for seat in state.to_act
        }
        number -= state.play(played).closed
        turns += 1
    return turns
