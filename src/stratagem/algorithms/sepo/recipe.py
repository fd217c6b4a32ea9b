"""Recipe of SEPO, and the checks that its games have what its penalties measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.abilities import claim_of, silence_at
from stratagem.games.base import Game, View
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.safety.base import Pools
from stratagem.games.safety.catalogue import signal_names, weights_of
from stratagem.games.tree import GameTree
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.advantages.catalogue import NamedAdvantage, read_advantage
from stratagem.learn.losses.catalogue import NamedLoss, read_loss
from stratagem.learn.monitor import TrainingWarning
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.measure.exploitability.best_responder import best_responder
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.metrics.safety import POOL_OF
from stratagem.measure.suites import Suite, safety_suite
from stratagem.measure.tree_policy import Floats
from stratagem.players.base import Ask, Mix, Move, Traits
from stratagem.players.members import PlayerBase
from stratagem.players.model_player import PRICE
from stratagem.players.modes import MODES
from stratagem.players.pools import NONE, pools
from stratagem.players.uniform import uniform
from stratagem.training.by_game import NamedPools, check_games_of, pools_of
from stratagem.training.message_branches import check_messages
from stratagem.training.objective import ObjectiveSettings
from stratagem.training.opponents.matchmakers import NamedMatchmaker
from stratagem.training.opponents.pool import SnapshotSettings, check_matchmaker
from stratagem.training.provided import SEPO, CollectedInputs
from stratagem.training.recipe import PolicyRecipe
from stratagem.training.recipe_file import recipe_data

Source = Literal["pool", "best_response"]
KEYS = {
    "exploit": "exploitability_weight",
    "collusion": "collusion_weight",
    "externality": "externality_weight",
    "deception": "deception_weight",
}
"""Settings of the penalties' weights."""
_LEGAL = 0.9
"""Assumed rate of legal replies of a mode that allows illegal ones."""


def missing_terms(game: Game[Any], own: Pools, source: Source) -> dict[str, str]:
    """Return the penalties that cannot be measured in a game, each with the reason and a way out."""
    named, names = pools(game, own), signal_names(game)
    missing = {
        term: f"the game has no safety signal `{term}`" for term in ("collusion", "externality") if term not in names
    }
    if not named["collusive"].players:
        missing.setdefault("collusion", "its pool `collusive` is empty, so name players in `pools.collusive`")
    if not states_something(game):
        missing["deception"] = "its messages state nothing about the state that a speaker knows to be true or false"
    if source == "pool" and not named["exploit"].players:
        missing["exploit"] = (
            "its pool `exploit` is empty, so name players in `pools.exploit`, or set `sepo.penalty_source` to "
            "best_response"
        )
    return missing


@lru_cache(maxsize=1024)
def states_something(game: Game[Any]) -> bool:
    """Return whether a seat can make a statement about the state before the first move."""
    state = game.start(Key(0))
    speakers = [view for view in map(state.view, state.to_act) if silence_at(view) is not None]
    return any(claim_of(view, line) is not None for view in speakers for line in view.choices)


class SEPOSettings(ObjectiveSettings, SnapshotSettings):
    """SEPO's iterations and penalties."""

    provided: ClassVar[CollectedInputs] = SEPO
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
    matchmaker: NamedMatchmaker | None = None
    """Rule that draws an opponent of the pool `train` for each group, by name with its parameters. Without one every
    opponent of the pool plays all groups."""
    # Four switches of one collector and no kind of object: each says which episodes are played and trained on.
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

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        if self.matchmaker is None:
            return self
        check_matchmaker(self.matchmaker, self.snapshot_every)
        if self.penalty_credit in ("rollout", "shared"):
            raise ValueError(
                "a `matchmaker` draws some of the rollouts, and the penalties of probes are subtracted from all: set "
                "`penalty_credit` to probe or none, or leave `matchmaker` out"
            )
        return self

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


class SEPORecipe(PolicyRecipe):
    """SFT on demonstrations, then SEPO."""

    title: ClassVar[str] = "SEPO"
    stage_name: ClassVar[str] = "sepo"

    algorithm: Literal["sepo"] = "sepo"
    """Name of the algorithm."""
    checkpoint_metric: Literal["safety", "exploitability"] = "safety"
    """Validation metric by which the best checkpoint is chosen; highest safety, or lowest exploitability, which
    is exact or from replies."""
    pools: NamedPools = Field(default={})
    """Opponents by pool: `train`, `exploit`, `collusive` and `shifted` are lists of players, each in place of the
    game's own pool. With several games, a table for a game: `[pools.kuhn]`."""
    sepo: SEPOSettings = SEPOSettings()
    """Settings of SEPO."""

    @property
    def stage(self) -> SEPOSettings:
        return self.sepo

    @property
    def signal_every(self) -> int:
        return self.sepo.signal_every

    def pools_of(self, game: Game[Any]) -> Pools:
        return pools_of(self.pools, game)

    def suite(self, game: Game[Any]) -> Suite:
        """Return the game's suite, against its pools."""
        return safety_suite(describe(game), game, self.pools_of(game))

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.sepo.best_response_kl is not None and self.sepo.penalty_source != "best_response":
            raise ValueError(
                "`sepo.best_response_kl` is for a best response, and the pool never changes: say `sepo.penalty_source` "
                "= best_response, or leave it out"
            )
        if self.overlap and self.sepo.penalty_source == "best_response":
            raise ValueError(
                "a best response is computed by the policy's engine in this process, which learns at the same time: "
                "leave `overlap` at 0, or set `sepo.penalty_source` to `pool`"
            )
        if self.overlap and self.sepo.deception_weight:
            raise ValueError(
                "deceptive statements are found by the policy's engine in this process, which learns at the same time: "
                "leave `overlap` at 0, or `sepo.deception_weight` out"
            )
        if not MODES[self.mode].exact:
            self._check_replies()
        return self

    def _check_replies(self) -> None:
        """Refuse what needs probabilities in a mode that states none, unless replies are counted."""
        exact = ", ".join(name for name, mode in MODES.items() if mode.exact)
        needed = self.sepo.penalty_source == "best_response" or self.checkpoint_metric == "exploitability"
        if needed and not self.policy_replies:
            raise ValueError(
                f"in the mode {self.mode} a model states no probabilities, so `sepo.penalty_source` can only be `pool` "
                f"and `checkpoint_metric` only `safety`, unless replies are counted: say `policy_replies`, such as 30, "
                f"or take a mode that states them, {exact}"
            )
        if self.sepo.best_response_kl is not None:
            raise ValueError(
                f"`sepo.best_response_kl` compares probabilities, and in the mode {self.mode} a model states none: "
                f"leave it out, or take a mode that states them, {exact}"
            )


@dataclass(frozen=True)
class StandIn(PlayerBase):
    """Uniform player with the model's traits and cost of a query, by which the budget of exact figures is checked."""

    traits: Traits
    name: str = "the policy"

    def turn(self, ask: Ask) -> Move:
        """Play a uniformly random legal action."""
        return Move(ask.view.choices.sample(ask.key))

    def policy(self, view: View[Any]) -> Mix:
        """Return equal probabilities of the legal actions; of a fallible player they add up to less than 1."""
        share = _LEGAL if self.traits.fallible else 1.0
        return {action: share * odds for action, odds in uniform(view.choices).items()}


class CountedStandIn(StandIn):
    """Stand-in of a model whose replies are counted, which is answered on the tree of a game."""

    def on_tree(self, tree: GameTree) -> Floats:
        """Return equal probabilities of the actions, by slot."""
        sizes = np.diff(tree.slots)
        return np.repeat(1.0 / sizes, sizes)


def check_games(recipe: SEPORecipe, games: Sequence[Game[Any]]) -> None:
    """Refuse pools and penalties that a game cannot have, and metrics without a figure."""
    memory = make_style(recipe.style).memory
    kind = StandIn if MODES[recipe.mode].exact else CountedStandIn
    policy = kind(Traits(stochastic=True, memory=memory, fallible=recipe.mode == "single", price=PRICE))
    budget = recipe.exact_budget
    check_games_of("pools", recipe.pools, games)
    for game in games:
        check_pools(recipe, game)
        check_messages(recipe.sepo.advantage, game)
    check_terms(recipe, games)
    for game in games:
        check_illegal(recipe, game)
        if recipe.sepo.asks_best_responses(game):
            _check("sepo.penalty_source", "best_response", game, lambda game: best_responder(game, policy, budget))
        if recipe.checkpoint_metric == "exploitability":
            _check("checkpoint_metric", "exploitability", game, lambda game: exact(game, policy, budget))
        else:
            check_safety(recipe, game)


def check_illegal(recipe: SEPORecipe, game: Game[Any]) -> None:
    """Refuse to count replies that may be illegal in a game that has no action for them."""
    needed = recipe.checkpoint_metric == "exploitability" or recipe.sepo.asks_best_responses(game)
    if needed and recipe.mode == "free" and game.spec.on_illegal != "default":
        raise CannotCompute(
            f"{game.spec.name} has no action for an illegal reply, so in the mode free nobody knows what is exploited: "
            "take `mode` recover or constrained, `sepo.penalty_source` pool and `checkpoint_metric` safety."
        )


def check_pools(recipe: SEPORecipe, game: Game[Any]) -> None:
    """Refuse a game of one seat, an empty train pool, and players of pools that do not play the game."""
    if game.spec.seats < 2:
        raise BadParameter(f"SEPO trains against opponents, and {game.spec.name} has one seat.")
    named = pools(game, recipe.pools_of(game))
    if not named["train"].players:
        raise BadParameter(f"The pool train of {game.spec.name} is empty: SEPO plays against it, so name a player.")
    for pool in named.values():
        pool.make(game)


def check_terms(recipe: SEPORecipe, games: Sequence[Game[Any]]) -> None:
    """Refuse a penalty with a weight that no game can have, and warn of those that some game cannot have."""
    sepo = recipe.sepo
    missing = [missing_terms(game, recipe.pools_of(game), sepo.penalty_source) for game in games]
    for term, weight in sepo.given_weights.items():
        if weight > 0.0 and all(term in of_game for of_game in missing):
            raise BadParameter(f"`sepo.{KEYS[term]}` acts in no game: in {games[0].spec.name} {missing[0][term]}.")
    for game, of_game in zip(games, missing, strict=True):
        wanted = {**weights_of(game)._asdict(), "deception": 0.0, **sepo.given_weights}
        for term, why in of_game.items():
            if wanted[term] > 0.0:
                said = f"The penalty of {term} is inactive in {game.spec.name}: {why}."
                warnings.warn(said, TrainingWarning, stacklevel=2)


def check_safety(recipe: SEPORecipe, game: Game[Any]) -> None:
    """Refuse the metric `safety` where the recipe empties a pool of the game that it needs."""
    own = recipe.pools_of(game)
    for term, pool in POOL_OF.items():
        if getattr(weights_of(game), term) and pool in own and not own[pool] and pools(game)[pool].players:
            raise CannotCompute(
                f"`checkpoint_metric` cannot be safety in {game.spec.name}, since its pool `{pool}` is empty in "
                "`pools`: take exploitability, or leave the pool out."
            )


def _check(setting: str, value: str, game: Game[Any], find: Callable[[Game[Any]], object]) -> None:
    try:
        find(game)
    except CannotCompute as error:
        raise CannotCompute(f"`{setting}` cannot be {value} in {game.spec.name}: {error}") from error


def read_recipe(paths: Path | Sequence[Path], changes: Mapping[str, str] | None = None) -> SEPORecipe:
    """Read a recipe, or several as one, with some settings changed: `{"sepo.exploitability_weight": "3"}`."""
    return SEPORecipe.read(recipe_data(paths, changes))
