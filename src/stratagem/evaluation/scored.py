"""Exploitability of a player whose probabilities are known up to a bound, as a server's log-probabilities tell them.

The figures are those of the centre: the known probabilities of each information set I, divided by their sum. The unseen
part u(I) may belong to any action. Let the true player and the centre draw from the known part together. They first
differ where an unseen part is drawn, with at most the probability E[sum of u(I) on the way]. So each value differs by
at most this times the range of the payoffs. For the value of a best response it is the largest such expectation that
any responder can bring about, which is a best response in itself. The bounds hold whatever is unseen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from stratagem.errors import CannotCompute
from stratagem.evaluation.best_response import BUDGET
from stratagem.evaluation.exact import Exact, of_policy
from stratagem.evaluation.policies import Stated, retried
from stratagem.evaluation.prompts import prompts_of
from stratagem.evaluation.resumable import ResumableRecord
from stratagem.evaluation.statistics import Estimate
from stratagem.evaluation.tree_policy import Floats, Oracle, check_price, oracle_of, rows_on, views_of
from stratagem.games.base import Game, Json, Seat, View
from stratagem.games.tree import TERMINAL
from stratagem.players.base import Player, Scored, prompts_by, scores_of

_ZERO_SUM = ("zero-sum", "constant-sum")


@dataclass(frozen=True)
class ScoredExact:
    """Figures a round of a scored player, and how far the true ones can be from them."""

    centre: Exact
    errors: tuple[float, ...]
    """Largest error of the gain of a deviation, by seat."""
    error: float
    """Largest error of the exploitability."""
    unseen: float
    """Largest unseen probability of an information set."""

    @property
    def exploitability(self) -> Estimate:
        """Exploitability with its bounds, which are no interval of confidence."""
        return _between(self.centre.exploitability, self.error)

    @property
    def gains(self) -> tuple[Estimate, ...]:
        """Gain of a deviation at each seat, with its bounds."""
        return tuple(_between(gain, error) for gain, error in zip(self.centre.gains, self.errors, strict=True))

    def to_json(self) -> Json:
        """Return every figure by name."""
        low, high = self.exploitability.low, self.exploitability.high
        bounds = {"exploitability_low": low, "exploitability_high": high}
        return {"centre": self.centre.to_json(), **bounds, "errors": list(self.errors), "unseen": self.unseen}


def _between(value: float, error: float) -> Estimate:
    """Return a gain with its bounds; no gain is negative."""
    return Estimate(value, low=max(0.0, value - error), high=value + error)


def scored_exact(
    game: Game[Any], player: Player, budget: int = BUDGET, record: ResumableRecord | None = None
) -> ScoredExact:
    """Compute bounds on the exploitability of a scored player, or raise `CannotCompute` with the reason.

    A `record` logs the replies, so that a stopped evaluation asks for none again.
    """
    if game.spec.seats < 2:
        raise CannotCompute(f"{game.spec.name} has one seat, so nobody can exploit anybody in it.")
    if game.spec.on_illegal != "default":
        raise CannotCompute(f"{game.spec.name} has no action for a reply that is none, so no exploitability is exact.")
    oracle = oracle_of(game, budget)
    by_kind = views_of(oracle.tree)
    check_price(oracle.tree, player, len(by_kind[0]))
    views = [view for of_kind in by_kind for view in of_kind.values()]
    scores = iter(_scored(player, views, record or ResumableRecord()))
    told = [dict(zip(of_kind, islice(scores, len(of_kind)), strict=True)) for of_kind in by_kind]
    if any(of_kind != told[0] for of_kind in told):
        raise CannotCompute(
            f"{player.name} answers in other ways from round to round of {game.spec.name}, so its scores are no one "
            "policy: measure it by its replies (`policy_replies`)."
        )
    figures = of_scored(oracle, told[0])
    return replace(figures, centre=replace(figures.centre, prompts=prompts_of(player, views)))


def _scored(player: Player, views: Sequence[View[Any]], record: ResumableRecord) -> list[Scored]:
    """Return the scored probabilities in each situation, asked once in each prompt; refused where they are none."""
    chats: Sequence[Hashable] = prompts_by(player, views) or views
    keys = [(chat, view.choices) for chat, view in zip(chats, views, strict=True)]
    different = dict(zip(keys, views, strict=True))
    answers = dict(zip(different, scores_of(player, list(different.values()), record.answered), strict=True))
    told = [answers[key] for key in keys]
    for view, (mix, unseen) in zip(views, told, strict=True):
        shares = [*mix.values(), unseen]
        if min(shares) < 0.0 or sum(shares) > 1.0 + 1e-6 or any(action not in view.choices for action in mix):
            raise CannotCompute(f"{player.name} scores {mix} at {view.info_key!r}, which is no mixture of actions.")
    return told


def of_scored(oracle: Oracle, told: Mapping[tuple[Seat, str], Scored]) -> ScoredExact:
    """Return the figures of scored probabilities on a tree, by seat and information set."""
    tree, seats = oracle.tree, range(oracle.tree.game.spec.seats)
    ends = tree.mover == TERMINAL
    if len(set(tree.rounds[ends].tolist())) > 1:
        raise CannotCompute(f"{tree.game.spec.name} may end after different numbers of rounds, so no bound is known.")
    sets = tree.information_sets
    views = {(known.seat, known.view.info_key): known.view for known in sets}
    policy = rows_on(tree, {key: _centre(views[key], scored) for key, scored in told.items()})
    retries = tree.game.spec.retries
    unseen = np.array([min(1.0, told[known.seat, known.view.info_key].unseen * (retries + 1)) for known in sets])
    length = float(tree.rounds[ends][0])
    ranges = np.ptp(tree.returns[ends], axis=0) / length
    everyone, others = _expected_unseen(oracle, policy, unseen)
    of_best = [float(ranges[seat] * min(1.0, others[seat])) for seat in seats]
    errors = tuple(best + float(ranges[seat] * min(1.0, everyone)) for seat, best in zip(seats, of_best, strict=True))
    total = sum(of_best) if tree.game.spec.utility in _ZERO_SUM else sum(errors)
    largest = max((scored.unseen for scored in told.values()), default=0.0)
    return ScoredExact(of_policy(oracle, policy), errors, total / len(seats), largest)


def _centre(view: View[Any], scored: Scored) -> Stated:
    """Return the known probabilities divided by their sum, replies without an action included."""
    known = 1.0 - scored.unseen
    if known <= 0.0:
        return dict.fromkeys(view.choices, 1.0 / view.choices.count)
    mix: dict[str | None, float] = {action: p / known for action, p in scored.mix.items() if p > 0.0}
    return retried(mix, max(0.0, 1.0 - sum(mix.values())), view.game.spec.retries)


def _expected_unseen(oracle: Oracle, policy: Floats, unseen: Floats) -> tuple[float, list[float]]:
    """Return the expected sum of the unseen parts, and for each responder the largest of the parts of the others."""
    tree = oracle.tree
    acting = tree.mover >= 0
    of_node = np.where(acting, unseen[np.where(acting, tree.information_set, 0)], 0.0)
    seats = range(tree.game.spec.seats)
    sums = np.stack([np.where(tree.mover == seat, 0.0, of_node) for seat in seats] + [of_node], axis=1)
    for layer in list(tree.layers())[1:]:
        sums[layer] += sums[tree.parent[layer]]
    ends = tree.mover == TERMINAL
    everyone = float(tree.reach(policy)[ends] @ sums[ends, -1])
    return everyone, [oracle.best_value(policy, seat, sums[:, :-1]) for seat in seats]
