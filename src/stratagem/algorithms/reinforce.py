"""REINFORCE in self-play: one policy plays all seats, and each seat has a baseline of its own.

The gradient is that of SPIRAL (Liu et al. 2025). For a game G, an episode tau and a seat p with the decisions T_p:

    A_{G,p}(tau) = R_p(tau) - b_{G,p}
    b_{G,p}     <- alpha b_{G,p} + (1 - alpha) R_p(tau),   alpha = 0.95
    grad J       = E[ sum_p sum_{t in T_p} A_{G,p}(tau) grad log pi(y_t | s_t, p, G) ]

R_p is the sum of the seat's payoffs. The baselines are the estimator `role_baseline`; another one may take its place.
Against other opponents, which a matchmaker draws for each episode, T_p are the decisions of the policy's seat alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field

from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.learn.advantages.base import FRESH, State
from stratagem.learn.advantages.catalogue import NamedAdvantage, read_advantage
from stratagem.learn.losses.catalogue import NamedLoss, read_loss
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.players.model_player import ModelPlayer
from stratagem.players.pools import make_bot
from stratagem.playing.match import Match
from stratagem.playing.records import Episode
from stratagem.playing.workers.shards import play_setups
from stratagem.training.algorithm import OnlineAlgorithm, check_opponents, check_overlap
from stratagem.training.collector import RolloutBatch
from stratagem.training.message_branches import check_messages, play_branches
from stratagem.training.objective import ObjectiveSettings
from stratagem.training.opponents.pool import OpponentPool, PoolSettings, Snapshots, check_snapshots
from stratagem.training.provided import REINFORCE, CollectedInputs
from stratagem.training.recipe import OpponentsRecipe
from stratagem.training.rollouts import (
    decision_columns,
    group_setups,
    round_payoffs,
    select_trained,
    training_examples,
)

TERM = "payoff"
"""The only term of the reward."""


class REINFORCESettings(ObjectiveSettings, PoolSettings):
    """Self-play, and the policy gradient on it."""

    provided: ClassVar[CollectedInputs] = REINFORCE

    iterations: int = Field(default=30, ge=1)
    """Number of iterations; each has rollouts and optimizer steps."""
    episodes_per_batch: int = Field(default=32, ge=2)
    """Number of episodes in an iteration; of each game. Every episode has a start of its own."""
    loss: NamedLoss = read_loss("policy_gradient(normalize_by=divisor)")
    """Loss of a batch, by name with its parameters. With one optimizer step the default has the gradient of REINFORCE,
    divided by the number of decisions."""
    advantage: NamedAdvantage = read_advantage("role_baseline(ema_decay=0.95)")
    """Advantage estimator, by name with its parameters. The default compares an episode with the moving average of its
    seat; `group_mean` and `rloo` compare it with the same seat in the other episodes of the batch."""
    message_alternatives: int = Field(default=2, ge=1)
    """Messages that are drawn in the place of each message, where the estimator compares it with alternatives."""
    optimizer_steps: int = Field(default=1, ge=1)
    """Optimizer steps of an iteration, over which its examples are split."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-5)
    """Optimizer of the trained weights."""

    @property
    def reward_terms(self) -> frozenset[str]:
        return frozenset({TERM})


class REINFORCERecipe(OpponentsRecipe):
    """SFT, then REINFORCE in self-play."""

    title: ClassVar[str] = "REINFORCE"
    stage_name: ClassVar[str] = "reinforce"

    algorithm: Literal["reinforce"] = "reinforce"
    """Name of the algorithm."""
    reinforce: REINFORCESettings = REINFORCESettings()
    """Settings of REINFORCE."""

    @property
    def stage(self) -> REINFORCESettings:
        return self.reinforce


class SelfPlayCollector:
    """Rollouts of one game: the policy sits in all seats, or in one against a drawn opponent."""

    def __init__(
        self,
        settings: REINFORCESettings,
        game: Game[Any],
        policy: ModelPlayer,
        key: Key,
        snapshots: Snapshots | None = None,
    ) -> None:
        self.settings = settings
        self.match = Match(game, [policy] * game.spec.seats)
        self.key = key.at(describe(game))
        self.baselines: State = FRESH
        self.opponents = OpponentPool(settings, game, policy, snapshots)

    def collect(self, iteration: int) -> RolloutBatch:
        """Play the episodes of an iteration, and estimate the advantage of each decision."""
        name, count = f"{self.match.game.figure_name}/{iteration}", self.settings.episodes_per_batch
        key = self.key.at("iteration", iteration)
        self.opponents.begin(iteration)
        setups = list(group_setups(self.match, 1, count, key, name=name, same_start=False))
        setups, matchups = self.opponents.seat(setups, iteration * count)
        episodes, slots = play_setups(setups), [matchup.trained for matchup in matchups]
        self.opponents.record(matchups, episodes)
        rows, estimator = select_trained(episodes, slots), self.settings.advantage.value
        branches = play_branches(
            estimator.columns, zip(setups, episodes, slots, strict=True), self.settings.message_alternatives
        )
        terms, others = {TERM: round_payoffs}, "others" in estimator.columns
        estimate = estimator(decision_columns(rows, episodes, terms, branches, others=others), self.baselines)
        self.baselines = dict(estimate.state)
        counts, centred = dict(estimate.counts), frozenset(estimate.centred_terms)
        examples, every = training_examples(rows, estimate), [*episodes, *branches.episodes.values()]
        return RolloutBatch(examples, self._metrics(episodes, slots), every, counts, centred)

    def _metrics(self, episodes: Sequence[Episode], slots: Sequence[Sequence[int]]) -> dict[str, float]:
        """Mean return of the policy in each seat, and the mean number of decisions of an episode."""
        game, returns = self.match.game.figure_name, dict[int, list[float]]()
        for episode, own in zip(episodes, slots, strict=True):
            for seat in sorted(episode.seat_of(slot) for slot in own):
                returns.setdefault(seat, []).append(episode.payoffs[seat])
        means = {f"{game}/return/{seat}": math.fsum(some) / len(some) for seat, some in sorted(returns.items())}
        decisions = sum(len(episode.decisions) for episode in episodes) / len(episodes)
        return means | {f"{game}/decisions": decisions}

    def state(self) -> dict[str, Any]:
        """The baselines, and what the draws of opponents depend on."""
        return {"baselines": dict(self.baselines)} | self.opponents.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.baselines = dict(state["baselines"])
        self.opponents.restore(state)


class REINFORCEAlgorithm(OnlineAlgorithm[REINFORCERecipe]):
    """REINFORCE with a baseline for each role and game."""

    recipe_type = REINFORCERecipe

    def check(self) -> None:
        super().check()
        settings = self.recipe.reinforce
        check_snapshots(self.recipe, settings)
        for game in self.games:
            check_opponents(self.recipe, game, *settings.others, exact=True)
            check_overlap(self.recipe, game, (make_bot(name, game) for name in settings.others))
            check_messages(settings.advantage, game)

    @cached_property
    def snapshots(self) -> Snapshots:
        """Snapshots of the policy, which the opponents of all games share."""
        return Snapshots(self.run.path, self.recipe.reinforce)

    def collector(self, game: Game[Any], player: ModelPlayer, key: Key) -> SelfPlayCollector:
        return SelfPlayCollector(self.recipe.reinforce, game, player, key, self.snapshots)
