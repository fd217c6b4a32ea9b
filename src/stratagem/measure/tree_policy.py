"""Policies on a game tree: the stated probabilities of a player, a mixture of policies, and best responses to them.

A policy is one array: the probability of each action of each information set, by slot.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, View
from stratagem.games.forfeits import FORFEIT, add_forfeits, can_forfeit
from stratagem.games.sequence_form import BestResponse, Ends, SequenceForm
from stratagem.games.tree import GameTree
from stratagem.games.tree_cache import tree_of
from stratagem.games.tree_walk import BUDGET, QUICK
from stratagem.measure.policies import Stated, merges, stated_policies
from stratagem.players.base import Player
from stratagem.players.members import members_of

Floats = NDArray[np.float64]
SetKey = tuple[Seat, str]
"""Seat and information key of a situation."""
_ASKED = 100_000
"""Largest price of the information sets of a tree, in situations looked at."""
_CACHED, _CACHED_NODES = 4, 50_000
"""Oracles that are cached whatever their size, and nodes of the trees of all of them where there are more.

An audit or an evaluation over drawn games goes through twenty small trees again and again.
"""


class KindPolicy(NamedTuple):
    """Policy of a player in rounds of one kind, and their share of all rounds."""

    share: float
    policy: Floats


def policy_on(tree: GameTree, player: Player) -> Floats:
    """Return a player's policy at every seat.

    Of a player that answers differently in rounds of different kinds it is the policy in a round drawn at random.
    """
    kinds = policies_on(tree, player)
    return (
        kinds[0].policy if len(kinds) == 1 else mix_policies(tree, [k.policy for k in kinds], [k.share for k in kinds])
    )


def policies_on(tree: GameTree, player: Player) -> list[KindPolicy]:
    """Return a player's policies that differ by the kind of round, mostly one.

    It is asked once about each view of each kind, about all in one batch. A player that knows its policy on a whole
    tree has a method `on_tree` beside `policy`.
    """
    if (on_tree := members_of(player).on_tree) is not None:
        return [KindPolicy(1.0, on_tree(tree))]
    views = views_of(tree)
    check_price(tree, player, len(views[0]))
    told = iter(stated_policies(player, [view for of_kind in views for view in of_kind.values()]))
    rows = [rows_on(tree, dict(zip(of_kind, islice(told, len(of_kind)), strict=True))) for of_kind in views]
    return merged_kinds(tree, rows)


def views_of(tree: GameTree) -> list[dict[SetKey, View[Any]]]:
    """Return for each kind of round the views that it shows, by seat and information set of the tree."""
    return [
        {
            (known.seat, known.view.info_key): shown.view
            for known, shown in zip(tree.information_sets, kind.sets, strict=True)
        }
        for kind in tree.kinds
    ]


def merged_kinds(tree: GameTree, rows: Sequence[Floats]) -> list[KindPolicy]:
    """Join the kinds of rounds in which a policy is the same."""
    merged: dict[bytes, KindPolicy] = {}
    for kind, policy in zip(tree.kinds, rows, strict=True):
        known = merged.get(policy.tobytes())
        merged[policy.tobytes()] = KindPolicy(kind.share + (known.share if known else 0.0), policy)
    return list(merged.values())


def check_price(tree: GameTree, player: Player, num_views: int) -> None:
    """Refuse to ask an expensive player about very many situations."""
    price = player.traits.price
    if price > 1 and num_views * price > _ASKED:
        raise CannotCompute(f"{tree.game.spec.name} has {num_views} situations, too many to ask {player.name} about.")


def rows_on(tree: GameTree, mixes: Mapping[SetKey, Stated]) -> Floats:
    """Return the policy that has these probabilities, by seat and information set of the view."""
    rows = (_row(known.view, known.actions, mixes[known.seat, known.view.info_key]) for known in tree.information_sets)
    return np.array([p for row in rows for p in row])


def _row(view: View[Any], actions: Sequence[str], mix: Stated) -> list[float]:
    """Return the probabilities of the actions; the null action counts as the action that the game plays for it."""
    null = mix.get(None, 0.0)
    if actions[-1] == FORFEIT:
        return [*(mix.get(action, 0.0) for action in actions[:-1]), null]
    if not null:
        return [mix.get(action, 0.0) for action in actions]
    if view.game.spec.on_illegal != "default":
        raise CannotCompute(
            f"{view.game.spec.name} has no action for a reply that is none, so no exploitability is exact."
        )
    default = view.game.default_action(view.facts)
    return [mix.get(action, 0.0) + null * (action == default) for action in actions]


def mix_policies(tree: GameTree, policies: Sequence[Floats], shares: Sequence[float]) -> Floats:
    """Return the policy of a mixture: one policy is drawn for a whole game, and nobody sees which.

    With perfect recall the same behaviour results from draws decision by decision: at an information set each policy
    counts by its share and by the probability that its own moves lead there (Kuhn 1953, Extensive games and the problem
    of information). So the average over training, as fictitious play makes it, and the Nash mixture of a population
    have an exploitability of their own.
    """
    weights = np.asarray(shares, dtype=np.float64) / sum(shares)
    counts = weights[:, None] * np.array([_own_reach(tree, policy) for policy in policies])
    unreached = counts.sum(axis=0) == 0.0  # there a row does not matter
    counts[:, unreached] = weights[:, None]
    shares_by_slot = (counts / counts.sum(axis=0))[:, tree.set_of_slot]
    mixture: Floats = (shares_by_slot * np.array(policies)).sum(axis=0)
    return mixture


def _own_reach(tree: GameTree, policy: Floats) -> Floats:
    """Return for each information set the probability that the seat's own moves lead there."""
    reach = np.ones(len(tree.information_sets))
    for number, known in enumerate(tree.information_sets):
        if known.before is not None:
            earlier, action = known.before
            reach[number] = reach[earlier] * policy[tree.slots[earlier] + action]
    return reach


class Oracle:
    """Best responses on a tree."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree

    @cached_property
    def with_forfeits(self) -> Oracle:
        """Best responses on the tree in which an illegal reply is an action."""
        return Oracle(add_forfeits(self.tree))

    @cached_property
    def form(self) -> SequenceForm:
        """Sequences of all seats, and the ends of the game."""
        return SequenceForm(self.tree)

    @cached_property
    def _advantages(self) -> Ends:
        """Ends of the game, with the advantage over the mean of the others as the payoff of each seat."""
        return self.form.ends_of(advantages(self.tree))

    def best_response(self, policy: Floats, seat: Seat, *, advantage: bool = False) -> BestResponse:
        """Return the best response for the payoff of a seat, or for its advantage over the mean of the others."""
        ends = self._advantages if advantage else self.form.ends
        return self.form.best_response(ends, self.form.plans(policy), seat)

    def best_value(self, policy: Floats, seat: Seat, returns: Floats) -> float:
        """Return the value of the best response for returns by node and seat that replace the payoffs."""
        return self.form.best_response(self.form.ends_of(returns), self.form.plans(policy), seat).value


def advantages(tree: GameTree) -> Floats:
    """Return the returns of each seat less the mean of the others."""
    seats = tree.returns.shape[1]
    rest = (tree.returns.sum(axis=1, keepdims=True) - tree.returns) / (seats - 1)
    result: Floats = tree.returns - rest
    return result


def oracle_of(game: Game[Any], budget: int = BUDGET, *, one_round: bool = True, least: int = BUDGET) -> Oracle:
    """Return the oracle of a game; its tree is walked once, unless an option of the game has no hash.

    It is the tree of one round where rounds know nothing of each other, unless `one_round` is False. It may have
    `least` nodes, or `budget` where that is more.
    """
    budget = max(budget, least)
    try:
        hash(game)
    except TypeError:
        return Oracle(tree_of(game, budget, one_round=one_round))
    return _cached_oracle(game, budget, one_round)


def reply_oracle(game: Game[Any], player: Player, budget: int = QUICK) -> Oracle:
    """Return the oracle of a game by whose tree replies of a player are counted.

    An illegal reply of a player that may give some is an action of that tree, or another action of the game stands for
    it. The tree may have 500,000 nodes, or `budget` where that is more: replies take longer than a walk.
    """
    oracle = oracle_of(game, budget, least=QUICK)
    may_fail = player.traits.fallible or not player.traits.exact
    return oracle.with_forfeits if may_fail and can_forfeit(game) else oracle


_walked: dict[Hashable, Oracle] = {}
"""Cached oracles, the one that was used last at the end; threads of the viewer share them, so each step is whole."""


def _cached_oracle(game: Game[Any], budget: int, one_round: bool) -> Oracle:
    key = game, budget, one_round
    if (oracle := _walked.pop(key, None)) is None:
        oracle = Oracle(tree_of(game, budget, one_round=one_round))
    _walked[key] = oracle
    while len(_walked) > _CACHED and sum(len(one.tree) for one in list(_walked.values())) > _CACHED_NODES:
        _walked.pop(list(_walked)[0], None)  # noqa: RUF015 - an iterator fails where another thread adds one
    return oracle


def tree_or_induction(game: Game[Any], player: Player, budget: int) -> Oracle | None:
    """Return the game's tree with its best responses, or None where backward induction computes them.

    A game that hides something is walked as a tree, of at most 2,000,000 nodes, or `budget` where that is more. So is
    one round of a game whose rounds know nothing of each other, and every game with a player that knows its policy on
    a whole tree. Others are solved by induction, and so are games of more than 500,000 nodes whose situations repeat,
    such as an auction of many rounds against a player without memory. Raise `CannotCompute` where neither can be.
    """
    on_tree = members_of(player).on_tree is not None
    if not (game.spec.private_information or game.spec.independent_rounds or on_tree):
        return None
    repeats = not on_tree and merges(game, player)
    try:
        return oracle_of(game, budget, least=QUICK if repeats else BUDGET)
    except CannotCompute:
        if not repeats:
            raise
        return None
