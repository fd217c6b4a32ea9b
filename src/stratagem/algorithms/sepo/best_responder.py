"""Best response to a policy with stated probabilities, as the adversary of a probe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.errors import CannotCompute
from stratagem.evaluation.best_response import BUDGET, worst_actions
from stratagem.evaluation.exact import check_twin, hidden_twin, policy_table
from stratagem.games.base import Game, Twin, View
from stratagem.players.base import Mix, Player, Scripted, Traits

StatedPolicy = Mapping[str, Mapping[str, float]]
"""Probabilities of the legal actions, by information set."""


@dataclass(frozen=True)
class BestResponder(Scripted[Any]):
    """Player of a best response, by a table over information sets; exact for the policy that it was computed from."""

    traits: ClassVar[Traits] = Traits(memory=None)
    table: Mapping[str, str]

    @property
    def name(self) -> str:
        return "best-response"

    def strategy(self, view: View[Any]) -> str | Mix:
        return self.table[view.info_key]


def check_oracle(game: Game[Any]) -> None:
    """Refuse a game for which no best response can be computed."""
    twin = hidden_twin(game)
    if twin is not None:
        check_twin(twin)
    elif game.spec.private_information:
        raise CannotCompute(f"There is no oracle that plays {game.spec.name} as a best response: take the pool.")


def best_responder(game: Game[Any], player: Player, budget: int = BUDGET) -> BestResponder:
    """Compute the best response at every seat: by OpenSpiel, or by backward induction in games of open information.

    Raise `CannotCompute` for other games, and where the induction would visit more than `budget` states.
    """
    check_oracle(game)
    twin = hidden_twin(game)
    if twin is not None:
        return BestResponder(_by_twin(twin, player))
    game = game.one_round() or game
    tables = [worst_actions(game, player, seat, budget) for seat in range(game.spec.seats)]
    return BestResponder({key: action for table in tables for key, action in table.items()})


def mean_kl(policy: StatedPolicy, other: StatedPolicy) -> float:
    """Return the KL divergence of a policy to another, in nats: the mean over information sets; 0 without any."""
    terms = [_kl(_normalised(mix), _normalised(other[key])) for key, mix in policy.items()]
    return math.fsum(terms) / len(terms) if terms else 0.0


def _kl(mix: Mapping[str, float], other: Mapping[str, float]) -> float:
    common = [(share, other.get(action, 0.0)) for action, share in mix.items() if share > 0.0]
    return math.inf if any(q <= 0.0 for _, q in common) else math.fsum(p * math.log(p / q) for p, q in common)


def _normalised(mix: Mapping[str, float]) -> dict[str, float]:
    """Return the distribution over legal actions; a mode without a mask leaves a share to illegal replies."""
    total = math.fsum(mix.values()) or 1.0
    return {action: share / total for action, share in mix.items()}


def _by_twin(twin: Twin, player: Player) -> dict[str, str]:
    """Return OpenSpiel's best response at both seats."""
    import pyspiel  # only hidden-information games need the engine here

    check_twin(twin)
    rows = policy_table(twin, player)
    root = twin.spiel.new_initial_state()
    best: dict[str, int] = {}
    for seat in (0, 1):
        response = pyspiel.TabularBestResponse(twin.spiel, seat, rows)
        response.value_from_state(root)
        best |= response.get_best_response_actions()
    table: dict[str, str] = {}
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.is_terminal():
            continue
        if not node.is_chance_node():
            chosen = best.get(node.information_state_string(), node.legal_actions()[0])
            table[twin.view(node).info_key] = twin.action(node, chosen)
        nodes.extend(node.child(action) for action in node.legal_actions())
    return table
