"""Best response to a stated policy, exactly, by backward induction over the responder's information states.

An information state is the distribution over situations that the responder knows itself to be in; where nothing is
private it is one situation. Information states with equal distributions count as one, where the game and the policy let
situations with equal futures count as one (see `policies`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from stratagem.games.base import Game, Seat, State
from stratagem.games.enumeration import starts
from stratagem.games.tree_size import list_choices
from stratagem.measure.policies import Policies
from stratagem.players.base import Player

BUDGET = 50_000
"""Number of situations after which an induction gives up: some seconds."""
_PLACES = 12
"""Decimal places to which equal distributions agree."""

Belief = Sequence[tuple[State[Any], float]]
"""Situations with their probabilities."""
Reached = dict[Hashable, tuple[State[Any], float]]
"""By situation: a state of it and its probability."""
Objective = Literal["payoff", "advantage"]


class ActionConsequences(NamedTuple):
    """Consequences of an action of the responder, or of a move in which it does not act."""

    payoff: float
    """Expected payoff of the responder in this move."""
    advantage: float
    """Expected payoff of the responder less the mean of the others."""
    successors: Sequence[tuple[int, float]]
    """Indices of information states in the next layer, with their probabilities; none where the game is over."""


class Response(NamedTuple):
    """Largest expected payoff and advantage of a responder in an episode; the two may need different play."""

    payoff: float
    advantage: float


def best_response(game: Game[Any], agent: Player, responder: Seat, budget: int = BUDGET) -> Response:
    """Return the best response at one seat against `agent` at all others."""
    first, layers = _walk_states(game, agent, responder, budget)
    payoffs, advantages = (_values(layers, objective)[0] for objective in ("payoff", "advantage"))
    return Response(
        sum(weight * payoffs[index] for index, weight in first),
        sum(weight * advantages[index] for index, weight in first),
    )


def worst_actions(game: Game[Any], agent: Player, responder: Seat, budget: int = BUDGET) -> dict[str, str]:
    """Return the action of each information set that gains the largest advantage over `agent`."""
    _, layers = _walk_states(game, agent, responder, budget, merge=False)
    table = {}
    for layer, later in zip(layers, [*_values(layers, "advantage")[1:], []], strict=True):
        for belief, plans in layer:
            state = belief[0][0]
            if responder in state.to_act:
                values = [value_of(plan, "advantage", later) for plan in plans]
                view = state.view(responder)
                table[view.info_key] = list(view.choices)[values.index(max(values))]
    return table


Layers = list[list[tuple[Belief, list[ActionConsequences]]]]
"""Move by move, the information states and the plans in each."""


class _InformationStates:
    """Information states of the responder after the same number of moves, each once, in the order they were met."""

    def __init__(self, policies: Policies, responder: Seat) -> None:
        self.beliefs: list[Belief] = []
        self._policies = policies
        self._responder = responder
        self._hidden = policies.game.spec.private_information
        self._indices: dict[Hashable, int] = {}

    def add(self, reached: Sequence[tuple[State[Any], float]]) -> list[tuple[int, float]]:
        """Add states with their probabilities; return the information states that they make up, with theirs."""
        seen: dict[Hashable, Reached] = {}
        for state, probability in reached:
            situation = self._policies.situation(state)
            group = seen.setdefault(self._observe_state(state, situation), {})
            group[situation] = (state, probability + (group[situation][1] if situation in group else 0.0))
        return [self._index(group) for group in seen.values()]

    def _observe_state(self, state: State[Any], situation: Hashable) -> Hashable:
        if not self._hidden:
            return situation
        return state.view(self._responder).info_key, self._responder in state.to_act

    def _index(self, group: Reached) -> tuple[int, float]:
        total = sum(probability for _, probability in group.values())
        belief = {situation: probability / total for situation, (_, probability) in group.items()}
        key = frozenset((situation, round(p, _PLACES)) for situation, p in belief.items())
        index = self._indices.setdefault(key, len(self.beliefs))
        if index == len(self.beliefs):
            self._policies.spend(price=len(group))
            self.beliefs.append([(state, belief[situation]) for situation, (state, _) in group.items()])
        return index, total


def _walk_states(
    game: Game[Any], agent: Player, responder: Seat, budget: int, *, merge: bool = True
) -> tuple[list[tuple[int, float]], Layers]:
    """Walk all information states; return the first ones with their probabilities, and every layer."""
    policies = Policies(game, [agent] * game.spec.seats, budget, merge=merge)
    first = [(state, probability) for probability, state in islice(starts(game), budget + 1)]
    if len(first) > budget:
        policies.spend(len(first))  # refuses, before a belief of so many states is made
    layer = _InformationStates(policies, responder)
    return layer.add(first), list(_layers(policies, layer, responder))


def _layers(
    policies: Policies, layer: _InformationStates, responder: Seat
) -> Iterator[list[tuple[Belief, list[ActionConsequences]]]]:
    """Yield the plans of every information state, move by move."""
    while layer.beliefs:
        after = _InformationStates(policies, responder)
        policies.prepare([state for belief in layer.beliefs for state, _ in belief], but=responder)
        yield [(belief, list(_plans(policies, belief, responder, after))) for belief in layer.beliefs]
        layer = after


def _plans(
    policies: Policies, belief: Belief, responder: Seat, after: _InformationStates
) -> Iterator[ActionConsequences]:
    first = belief[0][0]
    for action in list_choices(first.view(responder)) if responder in first.to_act else [None]:
        own: dict[Seat, str | None] = {} if action is None else {responder: action}
        payoff = advantage = 0.0
        reached = []
        for probability, state, payoffs in _outcomes(policies, belief, responder, own):
            payoff += probability * payoffs[responder]
            rest = (sum(payoffs) - payoffs[responder]) / (len(payoffs) - 1)
            advantage += probability * (payoffs[responder] - rest)
            if not state.over:
                reached.append((state, probability))
        yield ActionConsequences(payoff, advantage, after.add(reached))


def _outcomes(
    policies: Policies, belief: Belief, responder: Seat, own: dict[Seat, str | None]
) -> Iterator[tuple[float, State[Any], tuple[float, ...]]]:
    """Yield the probability, the state and the payoffs of every outcome of a move."""
    for state, probability in belief:
        others = [seat for seat in state.to_act if seat != responder]
        for chosen, actions in policies.joint(state, others):
            for chance, reached, result in policies.outcomes(state, own | actions):
                yield probability * chosen * chance, reached, result.payoffs


def _values(layers: Layers, objective: Objective) -> list[list[float]]:
    """Return the values of every layer's information states under an objective."""
    values: list[list[float]] = [[]]
    for layer in reversed(layers):
        values.append([max(value_of(plan, objective, values[-1]) for plan in plans) for _, plans in layer])
    return values[:0:-1]


def value_of(plan: ActionConsequences, objective: Objective, later: list[float]) -> float:
    """Return the value of an action under an objective, from the values of the next layer's information states."""
    now: float = getattr(plan, objective)
    return now + sum(probability * later[index] for index, probability in plan.successors)
