"""Best response to a policy with stated probabilities, as the adversary of a probe."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.errors import CannotCompute
from stratagem.evaluation.best_response import BUDGET, worst_actions
from stratagem.evaluation.tree_policy import oracle_of, policy_on
from stratagem.evaluation.tree_response import BestResponse, moves_of
from stratagem.games.base import Game, View
from stratagem.games.tree import GameTree
from stratagem.players.base import Mix, Player, Scripted, Traits
from stratagem.players.members import members_of

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


def best_responder(game: Game[Any], player: Player, budget: int = BUDGET) -> BestResponder:
    """Compute the best response at every seat: on the game's tree where it hides something, by induction elsewhere.

    A player whose replies are counted is answered on the tree of any game.

    It has the largest advantage over the mean of the other seats, which the player holds. Raise `CannotCompute` where
    the tree is too large, or the induction would visit more than `budget` states.
    """
    seats = range(game.spec.seats)
    whole = not game.spec.private_information and not game.spec.independent_rounds
    if whole and members_of(player).on_tree is None:
        tables = [worst_actions(game, player, seat, budget) for seat in seats]
    else:
        oracle = oracle_of(game, budget)
        policy = policy_on(oracle.tree, player)
        responses = [oracle.best_response(policy, seat, advantage=True) for seat in seats]
        tables = [_actions(oracle.tree, response) for response in responses]
    return BestResponder(_joined(game, tables))


def _actions(tree: GameTree, response: BestResponse) -> dict[str, str]:
    """Return the action at each information set of the responder."""
    table = dict[str, str]()
    for known, action in moves_of(tree, response.slots.tolist()):
        if table.setdefault(known.view.info_key, action) != action:
            raise _ambiguous(tree.game, known.view.info_key)
    return table


def _joined(game: Game[Any], tables: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the actions of all seats by information set."""
    joined = dict[str, str]()
    for table in tables:
        for key, action in table.items():
            if joined.setdefault(key, action) != action:
                raise _ambiguous(game, key)
    return joined


def _ambiguous(game: Game[Any], key: str) -> CannotCompute:
    return CannotCompute(
        f"{game.spec.name} has one `info_key` for situations whose best responses differ, {key!r}: let it name the "
        "seat and all that the seat has seen."
    )


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
