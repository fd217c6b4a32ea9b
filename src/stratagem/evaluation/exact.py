"""Exact exploitability: the gain of a best response to a player that states its policy, beside its own value.

`nash_conv / seats` is the incentive to deviate when the player sits everywhere (Lanctot et al. 2017); `worst_advantage`
is the most that any opponent can earn above the player, which is what a pool of adversaries samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.evaluation.best_response import BUDGET, best_response
from stratagem.evaluation.expectation import expected
from stratagem.evaluation.policies import merges
from stratagem.evaluation.prompts import AskedOnce, PromptSet, prompts_of
from stratagem.evaluation.tree_policy import Floats, KindPolicy, Oracle, oracle_of, policies_on, views_of
from stratagem.games.base import Game, Json
from stratagem.players.base import Player
from stratagem.players.members import members_of


@dataclass(frozen=True)
class Exact:
    """Figures a round, in the game's own unit, of a player that holds every seat but the responder's."""

    values: tuple[float, ...]
    """Value of the player at each seat against itself."""
    best_responses: tuple[float, ...]
    """Value of a best response at each seat."""
    worst_advantage: float
    """Largest mean advantage over the player that any opponent can have, averaged over the seats."""
    unit: str
    prompts: PromptSet | None = None
    """Prompts that were asked; None of a player that reads no words."""

    @property
    def gains(self) -> tuple[float, ...]:
        """Gain of a deviation at each seat."""
        return tuple(best - own for best, own in zip(self.best_responses, self.values, strict=True))

    @property
    def nash_conv(self) -> float:
        """NashConv: the sum of those gains."""
        return sum(self.gains)

    @property
    def exploitability(self) -> float:
        """Exploitability: NashConv divided by the number of seats."""
        return self.nash_conv / len(self.values)

    def to_json(self) -> Json:
        """Return every figure by name."""
        return asdict(self) | {"nash_conv": self.nash_conv, "exploitability": self.exploitability}


def exact(game: Game[Any], player: Player, budget: int = BUDGET) -> Exact:
    """Compute the exact exploitability of a player, or raise `CannotCompute` with the reason.

    A game that hides something is walked as a tree, of at most 500,000 nodes, or `budget` where that is more. Others
    are solved by backward induction, over `budget` situations at most; a situation that a model is asked about counts
    as many as its traits say. So are games with a large tree whose situations repeat, such as an auction of many
    rounds against a player without memory.

    Where rounds know nothing of each other, the tree is that of one round, and the player is asked what play of the
    whole game asks it there. If that differs by the kind of round, the figures are the means over the rounds: all seats
    know which round it is.
    """
    check_stated(player)
    if game.spec.seats < 2:
        raise CannotCompute(f"{game.spec.name} has one seat, so nobody can exploit anybody in it.")
    whole = not game.spec.private_information and not game.spec.independent_rounds
    if whole and members_of(player).on_tree is None:
        return _by_induction(game, player, budget)
    try:
        oracle = oracle_of(game, budget)
    except CannotCompute:
        if not merges(game, player) or members_of(player).on_tree is not None:
            raise
        return _by_induction(game, player, budget)
    views = [view for of_kind in views_of(oracle.tree) for view in of_kind.values()]
    return replace(of_kinds(oracle, policies_on(oracle.tree, player)), prompts=prompts_of(player, views))


def of_kinds(oracle: Oracle, kinds: Sequence[KindPolicy]) -> Exact:
    """Return the means over the rounds of the figures of a policy by the kind of round."""
    figures = [of_policy(oracle, kind.policy) for kind in kinds]
    if len(figures) == 1:
        return figures[0]
    shares = [kind.share for kind in kinds]

    def mean(column: Iterable[float]) -> float:
        return math.fsum(share * value for share, value in zip(shares, column, strict=True))

    return Exact(
        values=tuple(map(mean, zip(*(figure.values for figure in figures), strict=True))),
        best_responses=tuple(map(mean, zip(*(figure.best_responses for figure in figures), strict=True))),
        worst_advantage=mean(figure.worst_advantage for figure in figures),
        unit=figures[0].unit,
    )


def of_policy(oracle: Oracle, policy: Floats) -> Exact:
    """Return the figures of a policy on a tree."""
    seats, (values, length) = range(oracle.tree.game.spec.seats), oracle.tree.expected(policy)
    best, advantage = (
        [oracle.best_response(policy, seat, advantage=kind).value / length for seat in seats] for kind in (False, True)
    )
    return Exact(
        values=tuple((values / length).tolist()),
        best_responses=tuple(best),
        worst_advantage=max(0.0, sum(advantage) / len(advantage)),
        unit=oracle.tree.game.spec.unit,
    )


def _by_induction(game: Game[Any], player: Player, budget: int) -> Exact:
    seats = range(game.spec.seats)
    asked = AskedOnce(player)
    responses = [best_response(game, asked, seat, budget) for seat in seats]
    own = expected(game, [asked] * len(seats), budget)
    length = own.rounds
    return Exact(
        values=tuple(own.per_round(seat) for seat in seats),
        best_responses=tuple(response.payoff / length for response in responses),
        worst_advantage=max(0.0, sum(response.advantage for response in responses) / len(seats) / length),
        unit=game.spec.unit,
        prompts=asked.prompts,
    )


def check_stated(player: Player) -> None:
    """Refuse a player that cannot state its probabilities."""
    if not player.traits.exact:
        raise CannotCompute(f"{player.name} cannot state its probabilities, so only play can measure it.")
