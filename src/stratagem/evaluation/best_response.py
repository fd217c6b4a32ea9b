"""The best response to a stated policy, exactly, by backward induction over all that can happen.

For games in which nothing is private. Where something is, OpenSpiel's best response does the work (see `exact`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from stratagem.errors import CannotCompute
from stratagem.evaluation.policies import Layer, Policies
from stratagem.games.base import Game, Seat, State
from stratagem.games.enumeration import outcomes, starts
from stratagem.players.base import Player

BUDGET = 50_000
"""How many situations an induction walks before it gives up: some seconds."""


class Branch(NamedTuple):
    """One way in which a plan can come out."""

    probability: float
    place: int | None
    """Where it leads in the next layer; None where the game is over."""
    pay: float
    """What it pays the responder."""
    advantage: float
    """By how much that exceeds the mean of the others."""


Plans = list[list[Branch]]
"""For each action of the responder (one plan where it does not act): all that can follow."""


class Response(NamedTuple):
    """The most that a responder can expect of an episode; the two may need different play."""

    pay: float
    advantage: float


def best_response(game: Game[Any], hero: Player, responder: Seat, budget: int = BUDGET) -> Response:
    """The best that can be done at one seat against `hero` at all others."""
    spec = game.spec
    if spec.private_information:
        raise CannotCompute(f"{spec.name} hides things and OpenSpiel does not have it, so no best response is exact.")
    policies = Policies(game, [hero] * spec.seats, budget)
    layer, weights = Layer(policies), defaultdict[int, float](float)
    for probability, state in starts(game):
        weights[layer.place(state)] += probability
    layers = list(_layers(policies, layer, responder))
    pays, advantages = _best(layers, attrgetter("pay")), _best(layers, attrgetter("advantage"))
    return Response(
        sum(weight * pays[place] for place, weight in weights.items()),
        sum(weight * advantages[place] for place, weight in weights.items()),
    )


def _layers(policies: Policies, layer: Layer, responder: Seat) -> Iterator[list[Plans]]:
    """The plans of every situation, move by move."""
    while layer.states:
        after = Layer(policies)
        policies.prepare(layer.states, but=responder)
        yield [list(_plans(policies, state, responder, after)) for state in layer.states]
        layer = after


def _plans(policies: Policies, state: State[Any], responder: Seat, after: Layer) -> Iterator[list[Branch]]:
    others = [seat for seat in state.to_act if seat != responder]
    mine = state.view(responder).choices if responder in state.to_act else [None]
    for action in mine:
        own: dict[Seat, str | None] = {} if action is None else {responder: action}
        plan = []
        for chosen, actions in policies.joint(state, others):
            for chance, reached, result in outcomes(state, own | actions):
                pay = result.payoffs[responder]
                rest = (sum(result.payoffs) - pay) / (len(result.payoffs) - 1)
                place = None if reached.over else after.place(reached)
                plan.append(Branch(chosen * chance, place, pay, pay - rest))
        yield plan


def _best(layers: list[list[Plans]], worth: Callable[[Branch], float]) -> list[float]:
    """The values of the first layer's situations, when `worth` is what counts."""
    values: list[float] = []
    for layer in reversed(layers):
        values = [max(_mean(plan, worth, values) for plan in plans) for plans in layer]
    return values


def _mean(plan: list[Branch], worth: Callable[[Branch], float], later: list[float]) -> float:
    return sum(b.probability * (worth(b) + (0.0 if b.place is None else later[b.place])) for b in plan)
