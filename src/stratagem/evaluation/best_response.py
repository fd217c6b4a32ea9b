"""Best response to a stated policy, exactly, by backward induction over all that can happen.

For games in which nothing is private. For others, OpenSpiel's best response does the work (see `exact`).
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
"""Number of situations after which an induction gives up: some seconds."""


class Branch(NamedTuple):
    """One outcome of a plan."""

    probability: float
    successor: int | None
    """Index in the next layer; None where the game is over."""
    payoff: float
    """Payoff of the responder."""
    advantage: float
    """Payoff of the responder less the mean of the others."""


Plans = list[list[Branch]]
"""For each action of the responder (one plan where it does not act): all outcomes."""


class Response(NamedTuple):
    """Largest expected payoff and advantage of a responder in an episode; the two may need different play."""

    payoff: float
    advantage: float


def best_response(game: Game[Any], agent: Player, responder: Seat, budget: int = BUDGET) -> Response:
    """Return the best response at one seat against `agent` at all others."""
    first, layers = _walked(game, agent, responder, budget)
    payoffs, advantages = (
        _values(layers, objective)[0] for objective in (attrgetter("payoff"), attrgetter("advantage"))
    )
    return Response(
        sum(weight * payoffs[index] for index, weight in first.items()),
        sum(weight * advantages[index] for index, weight in first.items()),
    )


def worst_actions(game: Game[Any], agent: Player, responder: Seat, budget: int = BUDGET) -> dict[str, str]:
    """Return the action of each information set that gains the largest advantage over `agent`."""
    objective: Callable[[Branch], float] = attrgetter("advantage")
    _, layers = _walked(game, agent, responder, budget, merge=False)
    table = {}
    for layer, later in zip(layers, [*_values(layers, objective)[1:], []], strict=True):
        for state, plans in layer:
            if responder in state.to_act:
                worths = [_mean(plan, objective, later) for plan in plans]
                view = state.view(responder)
                table[view.info_key] = list(view.choices)[worths.index(max(worths))]
    return table


Layers = list[list[tuple[State[Any], Plans]]]
"""Move by move, the situations and the plans in each."""


def _walked(
    game: Game[Any], agent: Player, responder: Seat, budget: int, *, merge: bool = True
) -> tuple[dict[int, float], Layers]:
    """Walk all situations; return the probabilities of the first ones, and every layer."""
    spec = game.spec
    if spec.private_information:
        raise CannotCompute(f"{spec.name} hides things and OpenSpiel does not have it, so no best response is exact.")
    policies = Policies(game, [agent] * spec.seats, budget, merge=merge)
    layer, weights = Layer(policies), defaultdict[int, float](float)
    for probability, state in starts(game):
        weights[layer.index(state)] += probability
    return weights, list(_layers(policies, layer, responder))


def _layers(policies: Policies, layer: Layer, responder: Seat) -> Iterator[list[tuple[State[Any], Plans]]]:
    """Yield the plans of every situation, move by move."""
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
                payoff = result.payoffs[responder]
                rest = (sum(result.payoffs) - payoff) / (len(result.payoffs) - 1)
                successor = None if reached.over else after.index(reached)
                plan.append(Branch(chosen * chance, successor, payoff, payoff - rest))
        yield plan


def _values(layers: Layers, objective: Callable[[Branch], float]) -> list[list[float]]:
    """Return the values of every layer's situations under an objective."""
    values: list[list[float]] = [[]]
    for layer in reversed(layers):
        values.append([max(_mean(plan, objective, values[-1]) for plan in plans) for _, plans in layer])
    return values[:0:-1]


def _mean(plan: list[Branch], objective: Callable[[Branch], float], later: list[float]) -> float:
    return sum(b.probability * (objective(b) + (0.0 if b.successor is None else later[b.successor])) for b in plan)
