"""Settings of SEPO, with the default penalty weights of each game."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from stratagem.algorithms.sepo.terms import Source, missing_terms
from stratagem.games.base import Game
from stratagem.games.safety.base import Pools
from stratagem.games.safety.catalogue import weights_of
from stratagem.learning.advantages.catalogue import NamedAdvantage, read_advantage
from stratagem.learning.losses.catalogue import NamedLoss, read_loss
from stratagem.learning.optimizer import OptimizerSettings
from stratagem.players.pools import NONE
from stratagem.training.objective import ObjectiveSettings
from stratagem.training.provided import SEPO, Provided


class SEPOSettings(ObjectiveSettings):
    """SEPO's iterations and penalties."""

    provided: ClassVar[Provided] = SEPO
    iterations: int = Field(default=100, ge=1)
    """Number of iterations; each has rollouts and one optimizer step."""
    group_size: int = Field(default=4, ge=2)
    """Number of rollouts in a group; SEPO's K."""
    groups_per_batch: int = Field(default=2, ge=1)
    """Number of groups in an iteration; for each opponent. The agent's seat rotates from group to group."""
    loss: NamedLoss = read_loss("sepo")
    """Loss of a batch, by name with its parameters. The default is the clipped surrogate with a one-sided KL
    penalty, divided by the number of decisions."""
    advantage: NamedAdvantage = read_advantage("per_round")
    """Advantage estimator, by name with its parameters. The default compares each round with the same round
    of the other rollouts, by the return-to-go; `{ return_to_go = false }` takes the round's own reward (the paper's),
    and `{ unit = "episode" }` compares whole episodes."""
    penalty_credit: Literal["probe", "rollout", "shared", "none"] = "probe"
    """Credit assignment of penalties: `probe` (decisions of the probe itself), `rollout` (subtracted from a rollout's
    reward; the paper's), `shared` (equal for all rollouts of a group, which cancels), or `none` (payoff and externality
    only)."""
    penalty_source: Source = "pool"
    """Adversaries of the exploitability penalty: the exploit pool, or the exact best response to the policy. With more
    than two seats the best response has the seat where it gains most, and the policy all others."""
    best_response_every: int = Field(default=5, ge=1)
    """Iterations between two computations of the best response."""
    best_response_kl: float | None = Field(default=None, gt=0.0)
    """KL divergence above which the best response is computed before it is due, in nats: of the policy to the policy at
    the last computation, the mean over the first information sets. None leaves the interval alone."""
    exploitability_weight: float | None = Field(default=None, ge=0.0)
    """Weight of the exploitability penalty (SEPO's alpha); None is the game's own."""
    collusion_weight: float | None = Field(default=None, ge=0.0)
    """Weight of the collusion penalty (SEPO's beta); None is the game's own."""
    externality_weight: float | None = Field(default=None, ge=0.0)
    """Weight of the externality penalty (SEPO's gamma); None is the game's own."""
    deception_weight: float = Field(default=0.0, ge=0.0)
    """Weight of the deception penalty: deceptive statements of the policy's rollouts, a round; 0 leaves it out."""
    deception_pairs: int = Field(default=8, ge=2)
    """Pairs of branches that compare a false statement with the true ones, where exact figures are not there."""
    message_alternatives: int = Field(default=2, ge=1)
    """Messages that are drawn in the place of each message, where the estimator compares it with alternatives."""
    signal_every: int = Field(default=5, ge=0)
    """Iterations between two measurements of the reward terms' gradients; 0 measures none."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-5)
    """Optimizer of the trained weights."""

    @property
    def optimizer_steps(self) -> int:
        """Optimizer steps of an iteration."""
        return 1

    @property
    def given_weights(self) -> dict[str, float]:
        """Weights of the penalties that the recipe sets."""
        weights = {
            "exploit": self.exploitability_weight,
            "collusion": self.collusion_weight,
            "externality": self.externality_weight,
            "deception": self.deception_weight or None,
        }
        return {name: weight for name, weight in weights.items() if weight is not None}

    def weights(self, game: Game[Any], own_pools: Pools = NONE) -> dict[str, float]:
        """Return the weight of each penalty in a game; 0 for a penalty that cannot be measured there."""
        missing = missing_terms(game, own_pools, self.penalty_source)
        weights: dict[str, float] = {**weights_of(game)._asdict(), "deception": 0.0, **self.given_weights}
        return {name: 0.0 if name in missing else weight for name, weight in weights.items()}

    def asks_best_responses(self, game: Game[Any]) -> bool:
        """True if training computes best responses to the policy in a game."""
        return (
            self.penalty_source == "best_response"
            and self.penalty_credit != "none"
            and self.weights(game)["exploit"] > 0.0
        )
