"""Who sits at each seat, and how it learns: a clock says after how many episodes, and so how far it looks ahead.

A naive learner learns after every episode, and what it does is worth what it brings in that episode. A shaper learns
once a trial, and what it does is worth what it brings until the trial's end, in which the others have learnt several
times: so it is paid for what they learn of it (ShapeLLM, section 4.1; M-FOS; SHAPER). All else of the two may be alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from stratagem.learning.optimizer import OptimizerSettings
from stratagem.learning.proximal import PPOSettings
from stratagem.learning.schedules import Schedule
from stratagem.play.memory import memory_of
from stratagem.prompting.catalogue import make_style
from stratagem.settings import FiniteSettings
from stratagem.training.recipe_file import ModeName, over
from stratagem.training.sft import AdapterSettings

Clock = Annotated[int, Field(ge=1)] | Literal["trial"]
"""After so many episodes, or once a trial."""
Share = Annotated[float, Field(gt=0.0, lt=1.0)]
TRL_RATE = 1.41e-6
"""trl's, which ShapeLLM trains naive learners with (Table 7)."""
RANK_TWO = AdapterSettings(rank=2, targets=("q_proj", "v_proj"))


class Remembers(FiniteSettings):
    """A seat that is told of the game in words."""

    memory: str = "last"
    """What it remembers: none, last, episode or trial."""
    style: str = "shapellm-state"
    """How a turn is put in words, which must go with the memory."""

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


class Speaks(Remembers):
    """A language model at a seat."""

    replaced: ClassVar[Mapping[str, str]] = {"max_new": "max_new_tokens"}

    model: str = ""
    """The base, as `stratagem players` names models; the recipe's own where it is empty."""
    mode: ModeName = "single"
    """How it comes to its action; in single it says one token of its whole vocabulary, and may say nothing legal."""
    temperature: float = Field(default=1.0, gt=0.0)
    """At which it is drawn."""
    max_new_tokens: int = Field(default=256, ge=1)
    """Maximum number of tokens of a reply."""


class Learns(Speaks):
    """A language model that learns by proximal policy optimization, as an adapter of its own."""

    replaced: ClassVar[Mapping[str, str]] = {"optimiser": "optimizer"}

    adapter: AdapterSettings = RANK_TWO
    """The adapter."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=TRL_RATE, max_grad_norm=float("inf"))
    """How the adapter and the value head are moved."""
    pace: Schedule = Schedule(start=1.0, end=1.0)
    """The share of its rate at which the adapter is moved, by how often it learnt before; not the value head."""
    ppo: PPOSettings = PPOSettings()
    """How a batch of play is learnt from."""
    value_scale: float = Field(default=1.0, gt=0.0)
    """How far one step moves the value head, against trl's; a small model's hidden states move it little."""
    reward: Literal["own", "sum"] = "own"
    """What it learns to raise: its own payoff, or what all seats are paid together (ShapeLLM, footnote 5)."""

    @model_validator(mode="before")
    @classmethod
    def _the_rest_as_usual(cls, data: Any) -> Any:
        """Of what a table leaves out, the value is that of this kind of learner and not of tables of its sort."""
        if not isinstance(data, Mapping):
            return data
        given = {name: data[name] for name in ("adapter", "optimizer", "ppo") if isinstance(data.get(name), Mapping)}
        usual = {name: cls.model_fields[name].default.model_dump() for name in given}
        return {**data, **{name: over(usual[name], table) for name, table in given.items()}}


class Naive(Learns):
    """Learns after every episode, and takes the others for a part of the world."""

    learner: Literal["naive"] = "naive"
    """Who sits there."""
    clock: Clock = 1
    """After how many episodes it learns, and over how many an action is credited."""


class Shaper(Learns):
    """Learns once a trial, and is paid for what the others learn meanwhile."""

    learner: Literal["shaper"] = "shaper"
    """Who sits there."""
    clock: Clock = "trial"
    """After how many episodes it learns, and over how many an action is credited."""
    memory: str = "trial"
    """What it remembers: none, last, episode or trial."""
    style: str = "shapellm-occurrence"
    """How a turn is put in words, which must go with the memory."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=TRL_RATE / 10, max_grad_norm=float("inf"))
    """How the adapter and the value head are moved."""
    ppo: PPOSettings = PPOSettings(c_vf=1e-3)
    """How a batch of play is learnt from."""


class Frozen(Speaks):
    """A model that does not learn."""

    learner: Literal["frozen"] = "frozen"
    """Who sits there."""


class Scripted(FiniteSettings):
    """A player by name."""

    learner: Literal["scripted"] = "scripted"
    """Who sits there."""
    player: str
    """As `stratagem players` names them."""


class Tabular(Remembers):
    """A table with a row for each thing that the seat may be told, learnt by the policy gradient; no model."""

    learner: Literal["tabular"] = "tabular"
    """Who sits there."""
    clock: Clock = 1
    """After how many episodes it learns, and over how many an action is credited."""
    rate: float = Field(default=1.0, gt=0.0)
    """How far a logit is moved along the gradient of the mean return of an episode."""
    first: Share | tuple[Share, Share, Share, Share, Share] = 0.5
    """How likely the first action is at first, in every row; the others share the rest. Five numbers are for before
    anything was played and after each joint action, as in the tables of first policies."""
    gamma: float = Field(default=1.0, ge=0.0, le=1.0)
    """What the next step's worth counts in this one's."""


SeatSettings = Annotated[Naive | Shaper | Frozen | Scripted | Tabular, Field(discriminator="learner")]


def episodes_between(clock: Clock, episodes: int) -> int:
    """How many episodes lie between two updates, in a trial of so many."""
    return episodes if clock == "trial" else clock
