"""Recipe of SCO-PAL: play, step reward, and refinement; the defaults are the paper's (section 5.1, appendix B)."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from stratagem.algorithms.scopal.interaction import SELF, InteractionSettings
from stratagem.algorithms.scopal.methods import (
    METHODS,
    DPOStageSettings,
    GRPOStageSettings,
    KTOStageSettings,
    SPAGStageSettings,
    StageSettings,
)
from stratagem.algorithms.scopal.samples import SampleSettings
from stratagem.base.settings import FiniteSettings, over_default
from stratagem.language.models.reference import parse_model
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.learn.reference import ReferenceSettings
from stratagem.training.game_lists import GameNames
from stratagem.training.recipe_file import AnyRecipe, GradientCheckpointing, ModeName
from stratagem.training.sft import AdapterSettings

SIX = ("breakthrough", "connect-four", "tic-tac-toe", "kuhn(hands=1)", "liars-dice", "nim")
"""Training games of SCO-PAL."""
_CLONED = StageSettings(batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-6, warmup_ratio=0.1))

_START = ReferenceSettings(type="copy")


class RewardSettings(FiniteSettings):
    """Stage II: the reward of a step."""

    step_reward: str = "step_win_rate"
    """Advantage estimator of the steps, with its options: step_win_rate, discounted, beta, or any other by state and
    action."""
    players: tuple[str, ...] = ()
    """Players whose decisions count, by their names in the records; by default the player of slot 0."""
    table: str = ""
    """Table of steps that was made before; with one, nothing is played or estimated."""

    @field_validator("step_reward")
    @classmethod
    def _check_step_reward(cls, step_reward: str) -> str:
        read_advantage(step_reward)
        return step_reward


class FinalEvaluationSettings(FiniteSettings):
    """Final evaluation of the base and of each stage's policy."""

    opponents: tuple[str, ...] = ("random", "mcts:1000")
    """Opponents of the evaluated policies."""
    episodes: int = Field(default=100, ge=1)
    """Number of episodes in each game against each opponent."""
    temperature: float = Field(default=0.2, ge=0.0)
    """Sampling temperature of the evaluated policies."""
    stages: Literal["all", "last"] = "all"
    """Evaluated policies: the base, every stage and random play, or the last stage alone."""


class ScopalRecipe(AnyRecipe):
    """Iterations of play, step rewards and refinement."""

    algorithm: Literal["scopal"] = "scopal"
    """Name of the algorithm."""
    games: GameNames = Field(default=SIX, min_length=1)
    """Games that are played."""
    model: str = "tiny"
    """Base model, as `stratagem players` names models; an adapter is merged into it first."""
    style: str = "gtbench"
    """Prompt style; `stratagem prompt` shows each."""
    mode: ModeName = "direct"
    """Decoding mode."""
    max_new_tokens: int = Field(default=64, ge=1)
    """Maximum number of tokens of a reply."""
    gradient_checkpointing: GradientCheckpointing = "auto"
    """Recomputation of activations in the backward pass: less memory, about a third more time. `auto` uses it where the
    estimate without it is more than 85 % of the memory of the device; the choice is in the recipe of the run."""
    train: Literal["adapter", "all"] = "adapter"
    """Trained weights; those of an adapter, or all."""
    adapter: AdapterSettings = AdapterSettings()
    """LoRA adapter that is trained."""
    reference: ReferenceSettings = _START
    """Reference policy of a method that has one: the policy at the start of the method's stage. Where all weights are
    trained it is another model, with its own `dtype` and `device`."""
    interaction: InteractionSettings = InteractionSettings()
    """Stage I: players and number of games."""
    reward: RewardSettings = RewardSettings()
    """Stage II: the reward of a step."""
    samples: SampleSettings = SampleSettings()
    """Selection of the samples."""
    refine: tuple[str, ...] = ("bc", "kto")
    """Stage III: refinement methods by name, in order; without any, only stages I and II run."""
    bc: StageSettings = _CLONED
    """Behavioural cloning of advantageous replies."""
    imitate: StageSettings = _CLONED
    """Behavioural cloning of all legal replies."""
    winning: StageSettings = _CLONED
    """Behavioural cloning of all legal replies in won games."""
    kto: KTOStageSettings = KTOStageSettings()
    """Kahneman-Tversky optimization."""
    joint: KTOStageSettings = KTOStageSettings()
    """Cloning and KTO in one loss."""
    dpo: DPOStageSettings = DPOStageSettings()
    """Direct preference optimization."""
    grpo: GRPOStageSettings = GRPOStageSettings()
    """GRPO on recorded games."""
    spag: SPAGStageSettings = SPAGStageSettings()
    """SPAG's offline policy gradient."""
    iterations: int = Field(default=1, ge=1)
    """Number of iterations of all stages. From the second on the opponent is the policy before the last iteration
    (appendix A.3)."""
    checkpoint_every: int = Field(default=50, ge=1)
    """Steps of refinement between two checkpoints."""
    final_evaluation: FinalEvaluationSettings = FinalEvaluationSettings()
    """Evaluation of the final policies."""

    @field_validator(*METHODS, "reference", mode="before")
    @classmethod
    def _over_its_defaults(cls, given: Any, info: ValidationInfo) -> Any:
        return over_default(cls.model_fields[str(info.field_name)].default, given)

    @field_validator("refine")
    @classmethod
    def _methods(cls, refine: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [name for name in refine if name not in METHODS]:
            raise ValueError(f"there is no method {unknown[0]!r}: methods are {', '.join(METHODS)}")
        return refine

    @model_validator(mode="after")
    def _possible(self) -> Self:
        given = self.reward.table or self.interaction.records
        if self.iterations > 1 and given:
            raise ValueError("`iterations` play anew each time: leave `interaction.records` and `reward.table` out")
        if self.iterations > 1 and self.interaction.teachers and not self.interaction.searches_with_policy:
            raise ValueError(
                "`teachers` without the policy play the same games each time: leave `iterations` at 1, or name "
                "`search(self)`"
            )
        if self.iterations > 1 and not self.refine:
            raise ValueError("without `refine` every iteration would be the same: leave `iterations` at 1")
        if self.iterations > 1 and self.interaction.opponents != {SELF: 1.0}:
            raise ValueError("from the second of several `iterations` on it plays what it was: leave `opponents` out")
        if self.reference.type != "copy":
            raise ValueError("the `reference` of a stage is the policy at its start: leave `type` at `copy`")
        if self.train == "all" and self.iterations > 1 and not self.interaction.teachers:
            raise ValueError('earlier policies play as adapters: leave `train` at "adapter", or `iterations` at 1')
        if self.train == "adapter" and (self.reference.dtype or self.reference.device):
            raise ValueError(
                "the `reference` of an adapter is another adapter on the same base: leave `dtype` and `device` out, or "
                'say `train = "all"`'
            )
        if parse_model(self.model).kind == "api":
            raise ValueError("a `model` behind a server has no weights here: take one that is on this machine")
        if len(parse_model(self.model).adapters) > 1:
            raise ValueError("a `model` with several adapters is several models: leave one")
        return self

    @property
    def bases(self) -> tuple[str, ...]:
        """Base model."""
        return (self.model,)

    def stage(self, method: str) -> StageSettings:
        """Return the settings of a method."""
        settings: StageSettings = getattr(self, method)
        return settings
