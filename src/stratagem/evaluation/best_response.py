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
    first, layers = _walked(game, hero, responder, budget)
    pays, advantages = (_values(layers, worth)[0] for worth in (attrgetter("pay"), attrgetter("advantage")))
    return Response(
        sum(weight * pays[place] for place, weight in first.items()),
        sum(weight * advantages[place] for place, weight in first.items()),
    )


def worst_actions(game: Game[Any], hero: Player, responder: Seat, budget: int = BUDGET) -> dict[str, str]:
    """What to do in each information set to get as far above `hero` as can be."""
    worth: Callable[[Branch], float] = attrgetter("advantage")
    _, layers = _walked(game, hero, responder, budget, merge=False)
    table = {}
    for layer, later in zip(layers, [*_values(layers, worth)[1:], []], strict=True):
        for state, plans in layer:
            if responder in state.to_act:
                worths = [_mean(plan, worth, later) for plan in plans]
                view = state.view(responder)
                table[view.info_key] = list(view.choices)[worths.index(max(worths))]
    return table


Layers = list[list[tuple[State[Any], Plans]]]
"""Move by move, the situations and what can be done in each."""


def _walked(
    game: Game[Any], hero: Player, responder: Seat, budget: int, *, merge: bool = True
) -> tuple[dict[int, float], Layers]:
    """The probabilities of the first situations, and all situations that may follow."""
    spec = game.spec
    if spec.private_information:
        raise CannotCompute(f"{spec.name} hides things and OpenSpiel does not have it, so no best response is exact.")
    policies = Policies(game, [hero] * spec.seats, budget, merge=merge)
    layer, weights = Layer(policies), defaultdict[int, float](float)
    for probability, state in starts(game):
        weights[layer.place(state)] += probability
    return weights, list(_layers(policies, layer, responder))


def _layers(policies: Policies, layer: Layer, responder: Seat) -> Iterator[list[tuple[State[Any], Plans]]]:
    """The plans of every situation, move by move."""
    while layer.states:
        after = Layer(policies)
        policies.prepare(layer.states, but=responder)
        yield [(state, list(_plans(policies, state, responder, after))) for state in layer.states]
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


def _values(layers: Layers, worth: Callable[[Branch], float]) -> list[list[float]]:
    """The values of every layer's situations, when `worth` is what counts."""
    values: list[list[float]] = [[]]
    for layer in reversed(layers):
        values.append([max(_mean(plan, worth, values[-1]) for plan in plans) for _, plans in layer])
    return values[:0:-1]


def _mean(plan: list[Branch], worth: Callable[[Branch], float], later: list[float]) -> float:
    return sum(b.probability * (worth(b) + (0.0 if b.place is None else later[b.place])) for b in plan)
