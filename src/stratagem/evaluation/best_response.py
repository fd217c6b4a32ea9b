"""Values by backward induction, exactly: of a stated policy against itself, and of a best response to it.

For games in which nothing is private. Where something is, OpenSpiel's best response does the work (see `exact`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.evaluation.expectation import Policies
from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.enumeration import outcomes, starts
from stratagem.players.base import Player

Worth = Callable[[RoundResult], float]
"""What one result adds to the value that is computed."""
_Plan = list[tuple[float, State[Any], float]]


def pay(seat: Seat) -> Worth:
    """The seat's own payoff."""
    return lambda result: result.payoffs[seat]


def advantage(seat: Seat) -> Worth:
    """The seat's payoff above the mean of the others."""
    return lambda result: (
        result.payoffs[seat] - (sum(result.payoffs) - result.payoffs[seat]) / (len(result.payoffs) - 1)
    )


def rounds(result: RoundResult) -> float:
    """One for every round that ends."""
    return float(result.closed)


def value(game: Game[Any], hero: Player, worth: Worth, responder: Seat | None = None, budget: int = 200_000) -> float:
    """The expected worth of an episode in which `hero` sits at every seat but the responder's, who maximises it."""
    spec = game.spec
    if spec.private_information:
        raise CannotCompute(f"{spec.name} has private information and no twin, so its best response cannot be had.")
    induction = _Induction(Policies(game, [hero] * spec.seats, budget), worth, responder)
    return sum(probability * induction.value(state, 0) for probability, state in starts(game))


class _Induction:
    def __init__(self, policies: Policies, worth: Worth, responder: Seat | None) -> None:
        self.policies, self.worth, self.responder = policies, worth, responder
        self._known: dict[Hashable, float] = {}

    def value(self, state: State[Any], depth: int) -> float:
        if state.over:
            return 0.0
        key = self.policies.situation(state)
        if key not in self._known:
            self.policies.spend(depth)
            self._known[key] = max(self._mean(plan, depth) for plan in self._plans(state))
        return self._known[key]

    def _plans(self, state: State[Any]) -> Iterator[_Plan]:
        """For each action of the responder (a single plan where it does not act): all that can follow."""
        responder, others = self.responder, [seat for seat in state.to_act if seat != self.responder]
        if responder is None or responder not in state.to_act:
            yield list(self._outcomes(state, others, {}))
            return
        for own in state.view(responder).choices:
            yield list(self._outcomes(state, others, {responder: own}))

    def _outcomes(
        self, state: State[Any], others: list[Seat], own: dict[Seat, str | None]
    ) -> Iterator[tuple[float, State[Any], float]]:
        for chosen, actions in self.policies.joint(state, others):
            for chance, after, result in outcomes(state, own | actions):
                yield chosen * chance, after, self.worth(result)

    def _mean(self, plan: _Plan, depth: int) -> float:
        return sum(p * (worth + self.value(after, depth + 1)) for p, after, worth in plan)
