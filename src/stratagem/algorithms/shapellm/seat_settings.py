"""Settings of the seats: the kind of learner, and the interval between its updates.

A naive learner is updated after every episode, with the return of that episode. A shaper is updated once a trial, with
the return until the end of the trial, so the return includes the effects of the others' updates (ShapeLLM, section 4.1;
M-FOS; SHAPER). All other settings of the two may be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from stratagem.learning.optimizer import OptimizerSettings
from stratagem.learning.proximal import PPOSettings
from stratagem.learning.schedules import Schedule
from stratagem.play.memory import memory_of
from stratagem.prompting.catalogue import make_style
from stratagem.settings import FiniteSettings
from stratagem.training.recipe_file import ModeName, over
from stratagem.training.sft import AdapterSettings

UpdateEvery = Annotated[int, Field(ge=1)] | Literal["trial"]
"""Number of episodes between updates, or once a trial."""
Share = Annotated[float, Field(gt=0.0, lt=1.0)]
TRL_RATE = 1.41e-6
"""Default learning rate of trl's PPO, with which ShapeLLM trains naive learners (Table 7)."""
RANK_TWO = AdapterSettings(rank=2, targets=("q_proj", "v_proj"))


class PromptSettings(FiniteSettings):
    """Seat with a prompt and a memory."""

    memory: str = "last"
    """Memory: none, last, episode or trial."""
    style: str = "shapellm-state"
    """Prompt style, which must fit the memory."""

    @field_validator("memory")
    @classmethod
    def _memory(cls, memory: str) -> str:
        memory_of(memory)
        return memory

    @field_validator("style")
    @classmethod
    def _style(cls, style: str) -> str:
        make_style(style)
        return style


class ModelSettings(PromptSettings):
    """Language model at a seat."""

    model: str = ""
    """Base model, as `stratagem players` names models; if empty, the recipe's."""
    mode: ModeName = "single"
    """Decoding mode. In `single` a reply is one token of the whole vocabulary, so it may be illegal."""
    temperature: float = Field(default=1.0, gt=0.0)
    """Sampling temperature."""
    top_k: int = Field(default=0, ge=0)
    """Number of most likely tokens to sample from; 0 leaves all. The learner renormalises over the kept tokens."""
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    """Nucleus sampling: the most likely tokens that together have at least this probability; 1 leaves all."""
    max_new_tokens: int = Field(default=256, ge=1)
    """Maximum number of tokens of a reply."""


class PPOLearnerSettings(ModelSettings):
    """Language model that learns by PPO, with an adapter of its own."""

    adapter: AdapterSettings = RANK_TWO
    """LoRA adapter."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=TRL_RATE, max_grad_norm=float("inf"))
    """Optimizer of the adapter and the value head."""
    learning_rate_scale: Schedule = Schedule(start=1.0, end=1.0)
    """Factor of the adapter's learning rate, as a schedule; the value head is not scaled."""
    ppo: PPOSettings = PPOSettings()
    """Settings of PPO."""
    value_scale: float = Field(default=1.0, gt=0.0)
    """Step size of the value head, relative to trl's; the hidden states of a small model move it little."""
    reward: Literal["own", "sum"] = "own"
    """Reward: its own payoff, or the sum over all seats (ShapeLLM, footnote 5)."""

    @model_validator(mode="before")
    @classmethod
    def _over_own_defaults(cls, data: Any) -> Any:
        """Lay a table over this learner's default of it, and not over the defaults of its class."""
        if not isinstance(data, Mapping):
            return data
        given = {name: data[name] for name in ("adapter", "optimizer", "ppo") if isinstance(data.get(name), Mapping)}
        defaults = {name: cls.model_fields[name].default.model_dump() for name in given}
        return {**data, **{name: over(defaults[name], table) for name, table in given.items()}}


class NaiveSettings(PPOLearnerSettings):
    """Naive learner: updates after every episode, and treats the others as part of the environment."""

    learner: Literal["naive"] = "naive"
    """Kind of learner."""
    update_every: UpdateEvery = 1
    """Interval between two updates; a number of episodes, or "trial". Returns are summed over it."""


class ShaperSettings(PPOLearnerSettings):
    """Shaper: updates once a trial, so its return includes the effects of the others' updates."""

    learner: Literal["shaper"] = "shaper"
    """Kind of learner."""
    update_every: UpdateEvery = "trial"
    """Interval between two updates; a number of episodes, or "trial". Returns are summed over it."""
    memory: str = "trial"
    """Memory: none, last, episode or trial."""
    style: str = "shapellm-occurrence"
    """Prompt style, which must fit the memory."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=TRL_RATE / 10, max_grad_norm=float("inf"))
    """Optimizer of the adapter and the value head."""
    ppo: PPOSettings = PPOSettings(value_coef=1e-3)
    """Settings of PPO."""


class FrozenSettings(ModelSettings):
    """Language model that does not learn."""

    learner: Literal["frozen"] = "frozen"
    """Kind of learner."""


class ScriptedSettings(FiniteSettings):
    """Player by name."""

    learner: Literal["scripted"] = "scripted"
    """Kind of learner."""
    player: str
    """Player, as `stratagem players` names it."""


class TabularSettings(PromptSettings):
    """Tabular policy with a row for each prompt, trained by the policy gradient; no model."""

    learner: Literal["tabular"] = "tabular"
    """Kind of learner."""
    update_every: UpdateEvery = 1
    """Interval between two updates; a number of episodes, or "trial". Returns are summed over it."""
    learning_rate: float = Field(default=1.0, gt=0.0)
    """Learning rate; the step size of a logit along the policy gradient, which is the mean over decisions."""
    initial_probability: Share | tuple[Share, Share, Share, Share, Share] = 0.5
    """Initial probability of the first action, in every row; the other actions share the rest. Five numbers are for
    the first round and after each joint action, as in the tables of target policies."""
    initial_std: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the noise on the initial logit of the first action; drawn from the seed for each row."""
    discount: float = Field(default=1.0, ge=0.0, le=1.0)
    """Discount factor gamma."""


def episodes_between(update_every: UpdateEvery, episodes: int) -> int:
    """Return the number of episodes between two updates, in a trial of `episodes`."""
    return episodes if update_every == "trial" else update_every
