"""REINFORCE in self-play: one policy plays all seats, and each seat has a baseline of its own.

The gradient is that of SPIRAL (Liu 2025). For a game G, an episode tau and a seat p with the decisions T_p:

    A_{G,p}(tau) = R_p(tau) - b_{G,p}
    b_{G,p}     <- alpha b_{G,p} + (1 - alpha) R_p(tau),   alpha = 0.95
    grad J       = E[ sum_p sum_{t in T_p} A_{G,p}(tau) grad log pi(y_t | s_t, p, G) ]

R_p is the sum of the seat's payoffs. The baselines are the estimator `role_baseline`; another one may take its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.learning.advantages.base import FRESH, State
from stratagem.learning.advantages.catalogue import NamedAdvantage, read_advantage
from stratagem.learning.losses.catalogue import NamedLoss, read_loss
from stratagem.learning.optimizer import OptimizerSettings
from stratagem.play.match import Match
from stratagem.play.records import Episode
from stratagem.players.model_player import ModelPlayer
from stratagem.training.algorithm import OnlineAlgorithm, check_opponents
from stratagem.training.collector import RolloutBatch
from stratagem.training.message_branches import check_messages, play_branches
from stratagem.training.objective import ObjectiveSettings
from stratagem.training.provided import REINFORCE, Provided
from stratagem.training.recipe import OpponentsRecipe
from stratagem.training.rollouts import (
    decision_columns,
    group_setups,
    round_payoffs,
    select_decisions,
    training_examples,
)
from stratagem.workers.shards import played

TERM = "payoff"
"""The only term of the reward."""


class REINFORCESettings(ObjectiveSettings):
    """Self-play, and the policy gradient on it."""

    provided: ClassVar[Provided] = REINFORCE

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


class SelfPlay:
    """Rollouts of one game in which the policy sits in all seats."""

    def __init__(self, settings: REINFORCESettings, game: Game[Any], policy: ModelPlayer, key: Key) -> None:
        self.settings = settings
        self.match = Match(game, [policy] * game.spec.seats)
        self.key = key.at(describe(game))
        self.baselines: State = FRESH

    def collect(self, iteration: int) -> RolloutBatch:
        """Play the episodes of an iteration, and estimate the advantage of each decision."""
        name, count = f"{self.match.game.spec.name}/{iteration}", self.settings.episodes_per_batch
        key = self.key.at("iteration", iteration)
        setups = list(group_setups(self.match, 1, count, key, name=name, same_start=False))
        episodes, slots = played(setups), range(self.match.game.spec.seats)
        rows, estimator = select_decisions(episodes, slots), self.settings.advantage.value
        plays = ((setup, episode, slots) for setup, episode in zip(setups, episodes, strict=True))
        branches = play_branches(estimator.columns, plays, self.settings.message_alternatives)
        estimate = estimator(decision_columns(rows, episodes, {TERM: round_payoffs}, branches), self.baselines)
        self.baselines = dict(estimate.state)
        counts, terms = dict(estimate.counts), frozenset(estimate.centred_terms)
        examples, every = training_examples(rows, estimate), [*episodes, *branches.episodes.values()]
        return RolloutBatch(examples, self._metrics(episodes), every, counts, terms)

    def _metrics(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """Mean return of each seat, and the mean number of decisions of an episode."""
        game, count = self.match.game.spec, len(episodes)
        returns = {seat: math.fsum(episode.payoffs[seat] for episode in episodes) for seat in range(game.seats)}
        metrics = {f"{game.name}/return/{seat}": total / count for seat, total in returns.items()}
        return metrics | {f"{game.name}/decisions": sum(len(episode.decisions) for episode in episodes) / count}

    def state(self) -> dict[str, Any]:
        """The baselines."""
        return {"baselines": dict(self.baselines)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.baselines = dict(state["baselines"])


class REINFORCEAlgorithm(OnlineAlgorithm[REINFORCERecipe]):
    """REINFORCE with a baseline for each role and game."""

    recipe_type = REINFORCERecipe

    def check(self) -> None:
        super().check()
        for game in self.games:
            check_opponents(self.recipe, game, exact=True)
            check_messages(self.recipe.reinforce.advantage, game)

    def collector(self, game: Game[Any], player: ModelPlayer, key: Key) -> SelfPlay:
        return SelfPlay(self.recipe.reinforce, game, player, key)
