"""Recipe base class of algorithms that train a policy in iterations of play and updates, with validation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol, Self

from pydantic import Field, model_validator

from stratagem.base.named import NamedObject
from stratagem.base.renamed.metrics import MetricName
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.drawn.distribution import is_stream
from stratagem.games.safety.base import Pools
from stratagem.language.models.decoding_settings import SamplingSettings
from stratagem.language.models.reference import parse_model
from stratagem.learn.example import OLD_LOGPROBS
from stratagem.learn.losses.base import Loss
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.learn.reference import ReferenceSettings
from stratagem.measure.best_response import BUDGET
from stratagem.measure.sampled.limits import FEW
from stratagem.measure.suites import Suite, find_suite
from stratagem.training.game_lists import GameNames, check_apart
from stratagem.training.learner_models import (
    LearnerBase,
    LearnerModelSettings,
    LearnerOptions,
    bases_of_learners,
    each_base,
)
from stratagem.training.recipe_file import AnyRecipe, GradientCheckpointing, ModeName
from stratagem.training.sft import AdapterSettings, SFTStageSettings
from stratagem.training.stopping import StoppingSettings


class Iterations(Protocol):
    """Settings of an algorithm's iterations."""

    @property
    def iterations(self) -> int: ...
    @property
    def loss(self) -> NamedObject[Loss]: ...
    @property
    def optimizer(self) -> OptimizerSettings: ...
    @property
    def optimizer_steps(self) -> int: ...


class PolicyRecipe(SamplingSettings, AnyRecipe):
    """SFT, then iterations of play and updates."""

    title: ClassVar[str]
    """Title of the algorithm in reports."""
    learners_table: ClassVar[str] = ""
    """Name of the recipe's table of learners; empty where there is one learner without a name."""
    stage_name: ClassVar[str]
    """Name of the recipe's table with the settings of the iterations."""

    games: GameNames = Field(default=("kuhn",), min_length=1)
    """Games that are played; all games of an iteration make one batch. `draws(cards, 20, seed=1)` stands for 20 drawn
    games, and `stream(cards, 4, seed=1)` for 4 fresh ones in each iteration."""
    validation_games: GameNames = ()
    """Games of validations; without any, the games of training. A stream needs them."""
    test_games: GameNames = ()
    """Games of the final evaluation; without any, those of validations. Training meets no drawn game of these lists."""
    model: str = "tiny"
    """Base model, as `stratagem players` names models."""
    style: str = "plain"
    """Prompt style; `stratagem prompt` shows each."""
    mode: ModeName = "direct"
    """Decoding mode; only direct and single state their probabilities."""
    temperature: float = Field(default=0.8, gt=0.0)
    """Sampling temperature; of rollouts and of evaluation."""
    max_new_tokens: int = Field(default=256, ge=1)
    """Maximum number of tokens of a reply."""
    gradient_checkpointing: GradientCheckpointing = "auto"
    """Recomputation of activations in the backward pass: less memory, about a third more time. `auto` uses it where the
    estimate without it is more than 85 % of the memory of the device; the choice is in the recipe of the run."""
    sft: SFTStageSettings | None = None
    """Supervised fine-tuning of the base before the iterations; without this table there is none."""
    train: Literal["adapter", "all"] = "adapter"
    """Trained weights; those of an adapter, with the base as its reference, or all, with a copy as the reference."""
    adapter: AdapterSettings = AdapterSettings()
    """LoRA adapter that is trained."""
    reference: ReferenceSettings = ReferenceSettings()
    """Reference of the KL penalty."""
    overlap: Literal[0, 1] = 0
    """1 collects the rollouts of the next step while the policy learns from those of this one, with `--workers`. Every
    rollout is then one update old; the loss takes its ratio to the probabilities of the sampler."""
    evaluate_every: int = Field(default=10, ge=1)
    """Iterations between two validations; each saves a checkpoint."""
    checkpoint_every: int = Field(default=0, ge=0)
    """Iterations between two checkpoints beside those of validations; 0 saves none beside them."""
    validation_episodes: int = Field(default=10, ge=1)
    """Episodes against each opponent in a validation; their deals differ from those of training and test."""
    test_episodes: int = Field(default=20, ge=1)
    """Episodes against each opponent in the final evaluation."""
    exact_budget: int = Field(default=BUDGET, ge=0)
    """Situations that may be walked for an exact figure; one that a model is asked about counts 40. The tree of a game
    of hidden information may have 2,000,000 nodes, or this number where it is larger. With 0 validations have none."""
    policy_replies: int = Field(default=0, ge=0)
    """Replies a situation, by which the exploitability of a mode is measured that states no probabilities; 0 measures
    none, and 8 are the fewest."""
    checkpoint_metric: MetricName
    """Validation metric by which the best checkpoint is chosen."""
    stop: StoppingSettings | None = None
    """Rule that ends the iterations early, where a validation metric stands still; without this table there is none."""

    @property
    @abstractmethod
    def stage(self) -> Iterations:
        """Settings of the iterations after SFT."""

    @property
    def signal_every(self) -> int:
        """Iterations between two measurements of the reward terms' gradients; 0 measures none."""
        return 0

    def pools_of(self, game: Game[Any]) -> Pools:
        """Return the pools that the recipe names for a game; by default none, and the game's are taken."""
        return {}

    @abstractmethod
    def suite(self, game: Game[Any]) -> Suite:
        """Return the evaluation suite of a game: its metrics and opponents."""

    @property
    def held_out_games(self) -> tuple[str, ...]:
        """Games of validations and of the final evaluation that are named apart from those of training."""
        return (*self.validation_games, *self.test_games)

    @model_validator(mode="after")
    def _games_apart(self) -> Self:
        sources = self.sft.sources if self.sft is not None else ()
        trained = (*self.games, *(game for source in sources for game in source.games))
        check_apart(trained, "validation_games", self.validation_games)
        check_apart(trained, "test_games", self.test_games)
        streams = list(filter(is_stream, self.games))
        if streams and not self.validation_games:
            raise ValueError(
                f"`games` has {streams[0]}, whose games differ in each iteration: name `validation_games`, such as "
                '["draws(cards, 8, seed=2)"]'
            )
        if streams and self.seats_of_learners:
            raise ValueError(
                f"`games` has {streams[0]}, and `policies` play the same games in each iteration: name draws(...) there"
            )
        if streams and self.sft is not None and self.sft_steps and not self.sft.sources:
            raise ValueError(
                f"`games` has {streams[0]}, and SFT learns before any iteration: give it `[[sft.sources]]` with games "
                'such as ["draws(cards, 20, seed=3)"]'
            )
        return self

    @model_validator(mode="after")
    def _replies(self) -> Self:
        if 0 < self.policy_replies < FEW:
            raise ValueError(
                f"`policy_replies` is {self.policy_replies}, and an exploitability takes at least {FEW:.0f} replies a "
                "situation, better 30; 0 measures none"
            )
        return self

    @model_validator(mode="after")
    def _stopping(self) -> Self:
        if self.stop is not None and self.overlap:
            raise ValueError("with `stop` no rollouts are collected ahead: leave `overlap` at 0")
        if self.stop is not None and self.stage.optimizer.schedule.type != "constant":
            raise ValueError(
                f"`{self.stage_name}.optimizer.schedule` ends with the last iteration, and with `stop` nobody knows "
                "which that is: leave it at constant"
            )
        return self

    @model_validator(mode="after")
    def _base(self) -> Self:
        needs_reference, loss = "reference_logprobs" in self.stage.loss.value.extras, f"`{self.stage_name}.loss`"
        if self.train == "all" and self.reference.follows:
            raise ValueError(
                f'a `reference` of type `{self.reference.type}` is made of an adapter: leave `train` at "adapter"'
            )
        if self.train == "all" and needs_reference and self.reference.type == "base":
            raise ValueError(
                f'with `train = "all"` nothing is left as a reference, which {loss} reads: keep a copy of the weights, '
                '`reference = { type = "copy" }`, give the loss no KL penalty, as `{ kl_estimator = "none", kl_coef = '
                "0.0 }`, or name a loss that reads none, such as policy_gradient"
            )
        if self.train == "adapter" and self.reference.type == "copy":
            raise ValueError(
                'a `reference` of type `copy` is of all weights: say `train = "all"`, or leave it at `base`, the model '
                "without the adapter"
            )
        if self.reference.type != "base" and not needs_reference:
            raise ValueError(
                f"a `reference` of type `{self.reference.type}` acts by the KL penalty of {loss} alone, and "
                f'{self.stage.loss.type} has none: write it as `{{ kl_estimator = "k3", kl_coef = 0.1 }}`'
            )
        if self.overlap and OLD_LOGPROBS not in self.stage.loss.value.columns:
            raise ValueError(
                f"with `overlap = 1` rollouts are one update old, and {loss} takes no ratio to the probabilities of "
                f"their sampler, since {self.stage.loss.type} reads none: leave `overlap` at 0, or name policy_gradient"
            )
        if self.overlap and self.train == "all":
            raise ValueError(
                'with `overlap = 1` a copy of the adapter plays, and with `train = "all"` there is none: leave '
                "`overlap` at 0"
            )
        for base in self.learner_bases:
            self._check_base(base.model)
        return self

    def _check_base(self, model: str) -> None:
        """Refuse a model that cannot be trained."""
        ref = parse_model(model)
        if self.sft_steps and (ref.adapters or (ref.kind in ("run", "zoo") and ref.revision not in ("base", "start"))):
            raise ValueError(
                "a `model` that was trained before cannot have SFT again: leave `sft` out, or set `sft.epochs` to 0"
            )
        if ref.kind == "api":
            raise ValueError("a `model` behind a server has no weights here: take one that is on this machine")
        if ref.four_bit:
            self._check_four_bit()

    def _check_four_bit(self) -> None:
        """Refuse to train the weights of a model in 4 bits, or an adapter that cannot go on from that of SFT."""
        if self.train == "all":
            raise ValueError(
                'a `model` in 4 bits can carry an adapter, and cannot change itself: leave `train` at "adapter"'
            )
        if self.sft is None or not self.sft_steps:
            return
        if self.sft.adapter is None:
            raise ValueError("a `model` in 4 bits cannot change itself: give `[sft]` an `adapter`, or leave `sft` out")
        if not self.adapter.same_weights(self.sft.adapter):
            raise ValueError(
                "a `model` in 4 bits goes on with the adapter of SFT: give `adapter` the rank, lora_alpha and targets "
                "of `sft.adapter`"
            )

    def checkpoint_due(self, done: int) -> bool:
        """True if `checkpoint_every` asks for a checkpoint after `done` iterations."""
        return bool(self.checkpoint_every) and done % self.checkpoint_every == 0

    @property
    def bases(self) -> tuple[str, ...]:
        """Base models, each once."""
        return tuple(dict.fromkeys(base.model for base in self.learner_bases))

    @property
    def learners_by_name(self) -> Mapping[str, LearnerModelSettings]:
        """Settings of each learner's model by the learner's name; by default one learner without a name."""
        return {"": LearnerModelSettings()}

    @property
    def seats_of_learners(self) -> Mapping[str, tuple[int, ...]]:
        """Seats of each policy, where several policies share a game; empty where one policy plays all seats."""
        return {}

    @property
    def bases_by_learner(self) -> dict[str, LearnerBase]:
        """Base of each learner, by the learner's name."""
        return bases_of_learners(self.model, self.learners_by_name, shared=self.train == "adapter")

    @property
    def learner_bases(self) -> tuple[LearnerBase, ...]:
        """Base models of the learners, each once."""
        return each_base(self.bases_by_learner.values())

    def of_learner(self, name: str) -> LearnerOptions:
        """Return the optimizer and the adapter of a learner, its own or those of all."""
        own = self.learners_by_name.get(name)
        given = own if isinstance(own, LearnerOptions) else LearnerOptions()
        optimizer, adapter = given.optimizer or self.stage.optimizer, given.adapter or self.adapter
        return given.model_copy(update={"optimizer": optimizer, "adapter": adapter})

    @property
    def sft_steps(self) -> int:
        """Number of optimizer steps of SFT."""
        return self.sft_steps_of_base * len(self.learner_bases)

    @property
    def sft_steps_of_base(self) -> int:
        """Number of optimizer steps of SFT on each base."""
        if self.sft is None:
            return 0
        return self.sft.steps(self.sft.num_trained(len(self.games)))

    @property
    def steps(self) -> int:
        """Number of SFT steps and iterations of the run."""
        return self.sft_steps + self.stage.iterations


class OpponentsRecipe(PolicyRecipe):
    """SFT, and then iterations, with named opponents in evaluation."""

    checkpoint_metric: MetricName = "payoff"
    """Validation metric by which the best checkpoint is chosen; the highest is best."""
    opponents: tuple[str, ...] = Field(default=("random",), min_length=1)
    """Opponents of validation and of the final evaluation; one of them plays all other seats."""
    exact_budget: int = Field(default=0, ge=0)
    """Situations that may be walked for an exact figure; one that a model is asked about counts 40. The tree of a game
    of hidden information may have 2,000,000 nodes, or this number where it is larger. With 0 validations have none."""

    def suite(self, game: Game[Any]) -> Suite:
        """The game alone, against the recipe's opponents."""
        return find_suite(describe(game), self.opponents)
