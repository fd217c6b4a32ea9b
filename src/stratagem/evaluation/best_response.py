"""Values by backward induction, exactly: of a stated policy against itself, and of a best response to it.

For games in which nothing is private. Equal situations are merged in games of perfect information, and in repeated
games of a player that looks one round back; otherwise the whole history counts. Where something is private, OpenSpiel's
best response does the work (see `exact`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.evaluation.expectation import Policies
from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.enumeration import outcomes, starts
from stratagem.players.base import Player

Worth = Callable[[RoundResult], float]
"""What one result adds to the value that is computed."""
_MOST_ROUNDS = 200
_Plan = list[tuple[float, State[Any], float]]


def pay(seat: Seat) -> Worth:
    """The seat's own payoff."""
    return lambda result: result.payoffs[seat]


def advantage(seat: Seat) -> Worth:
    """The seat's payoff above the mean of the others."""
    return lambda result: result.payoffs[seat] - (sum(result.payoffs) - result.payoffs[seat]) / (
        len(result.payoffs) - 1
    )


def rounds(result: RoundResult) -> float:
    """One for every round that ends."""
    return float(result.closed)


def value(game: Game[Any], hero: Player, worth: Worth, responder: Seat | None = None, budget: int = 200_000) -> float:
    """The expected worth of an episode in which `hero` sits at every seat but the responder's, who maximises it."""
    spec = game.spec
    if spec.private_information:
        raise CannotCompute(f"{spec.name} has private information and no twin, so its best response cannot be had.")
    if spec.rounds is None or spec.rounds > _MOST_ROUNDS:
        raise CannotCompute(f"{spec.name} has more than {_MOST_ROUNDS} rounds, too many for exact induction.")
    induction = _Induction(game, hero, worth, responder, budget)
    return sum(probability * induction.value(state) for probability, state in starts(game))


class _Induction:
    def __init__(self, game: Game[Any], hero: Player, worth: Worth, responder: Seat | None, budget: int) -> None:
        self.seats = range(game.spec.seats)
        self.policies = Policies([hero] * game.spec.seats)
        self.worth, self.responder, self.budget = worth, responder, budget
        self.one_back = hero.traits.memory is not None and hero.traits.memory <= 1
        self.perfect = game.spec.perfect_information
        self._known: dict[tuple[Any, ...], float] = {}

    def value(self, state: State[Any]) -> float:
        if state.over:
            return 0.0
        key = self._merged(state)
        if key not in self._known:
            self.budget -= 1
            if self.budget < 0:
                raise CannotCompute(f"{state.game.spec.name} has too many situations for an exact best response.")
            self._known[key] = max(map(self._mean, self._plans(state)))
        return self._known[key]

    def _plans(self, state: State[Any]) -> Iterator[_Plan]:
        """For each action of the responder (a single plan where it does not act): all that can follow."""
        others = [seat for seat in state.to_act if seat != self.responder]
        mixes = [self.policies.mix(state, seat).items() for seat in others]
        acts = self.responder is not None and self.responder in state.to_act
        for own in state.view(self.responder or 0).choices if acts else (None,):
            plan: _Plan = []
            for combination in product(*mixes):
                probability = 1.0
                actions: dict[Seat, str | None] = {self.responder or 0: own} if acts else {}
                for seat, (action, p) in zip(others, combination, strict=True):
                    actions[seat] = action
                    probability *= p
                plan += [(probability * p, after, self.worth(result)) for p, after, result in outcomes(state, actions)]
            yield plan

    def _mean(self, plan: _Plan) -> float:
        return sum(p * (worth + self.value(after)) for p, after, worth in plan)

    def _merged(self, state: State[Any]) -> tuple[Any, ...]:
        """Situations with the same key have the same future."""
        if self.perfect:
            return state.to_act, state.round, state.view(state.to_act[0]).state_key
        if self.one_back:
            return state.to_act, state.round, *(state.view(seat).state_key for seat in self.seats)
        return state.to_act, state.round, *(state.view(seat).info_key for seat in self.seats)
