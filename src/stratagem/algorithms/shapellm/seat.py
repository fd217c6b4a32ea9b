"""Seat of a trial: its settings by the kind of learner, its player, its memory, and its update after some episodes.

A naive learner is updated after every episode, with the return of that episode. A shaper is updated once a trial, with
the return until the end of the trial, so the return includes the effects of the others' updates (ShapeLLM, section 4.1;
M-FOS; SHAPER). All other settings of the two may be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from stratagem.base.settings import FiniteSettings
from stratagem.games.key import Key
from stratagem.language.models.decoding_settings import SamplingSettings
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.learn.proximal import PPO_TERMS, PPOSettings
from stratagem.learn.schedules import Schedule
from stratagem.players.base import Player
from stratagem.playing.memory import memory_of
from stratagem.playing.records import Decision, Episode
from stratagem.training.learner_models import LearnerModelSettings
from stratagem.training.provided import SHAPELLM
from stratagem.training.recipe_file import ModeName, over
from stratagem.training.sft import AdapterSettings
from stratagem.training.stage import Metrics, TrainingSubject

UpdateEvery = Annotated[int, Field(ge=1)] | Literal["trial"]
"""Number of episodes between updates, or once a trial."""
Share = Annotated[float, Field(gt=0.0, lt=1.0)]
TRL_RATE = 1.41e-6
"""Default learning rate of trl's PPO, with which ShapeLLM trains naive learners (Table 7)."""
RANK_TWO = AdapterSettings(rank=2, targets=("q_proj", "v_proj"))
"""Adapter of ShapeLLM's agents, with a smaller rank than the default, to save compute (its adapter configuration)."""


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


class ModelSettings(SamplingSettings, PromptSettings):
    """Language model at a seat."""

    model: str = ""
    """Base model, as `stratagem players` names models; if empty, the recipe's."""
    mode: ModeName = "single"
    """Decoding mode. In `single` a reply is one token of the whole vocabulary, so it may be illegal."""
    max_new_tokens: int = Field(default=256, ge=1)
    """Maximum number of tokens of a reply."""


class PPOLearnerSettings(ModelSettings, LearnerModelSettings):
    """Language model that learns by PPO, with an adapter of its own."""

    adapter: AdapterSettings = RANK_TWO
    """LoRA adapter."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=TRL_RATE, max_grad_norm=float("inf"))
    """Optimizer of the adapter and the value head."""
    learning_rate_scale: Schedule = Schedule(start=1.0, end=1.0)
    """Factor of the learning rate, as a schedule; the value head is not scaled."""
    ppo: PPOSettings = PPOSettings()
    """Settings of PPO."""
    value_scale: float = Field(default=1.0, gt=0.0)
    """Step size of the value head, relative to trl's; the hidden states of a small model move it little."""
    reward: Literal["own", "sum"] = "own"
    """Reward: its own payoff, or the sum over all seats (ShapeLLM, footnote 5)."""

    @model_validator(mode="after")
    def _check_advantage(self) -> Self:
        if self.ppo.advantage is not None:
            SHAPELLM.check_advantage(self.ppo.advantage, PPO_TERMS)
        return self

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
    learning_rate_scale: Schedule = Schedule(start=1.0, end=1.0)
    """Factor of the learning rate, as a schedule."""
    advantage_mean_over: Literal["batch", "turn"] = "turn"
    """Rows over which the mean advantage is taken: all decisions of an update, or those of the same turn."""
    initial_probability: Share | tuple[Share, Share, Share, Share, Share] = 0.5
    """Initial probability of the first action, in every row; the other actions share the rest. Five numbers are for
    the first round and after each joint action, as in the tables of target policies."""
    initial_std: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the noise on the initial logit of the first action; drawn from the seed for each row."""
    initial_player: str = ""
    """Player whose probabilities are the initial ones, in place of `initial_probability`; all actions need some."""
    discount: float = Field(default=1.0, ge=0.0, le=1.0)
    """Discount factor gamma."""
    entropy_coef: float = Field(default=0.0, ge=0.0)
    """Coefficient of the entropy bonus: the mean over decisions of the entropy of the row."""

    @property
    def compares_episodes(self) -> str:
        """Setting by which an episode is compared with the others of its batch; empty without one."""
        return 'advantage_mean_over = "turn"' if self.advantage_mean_over == "turn" else ""


def episodes_between(update_every: UpdateEvery, episodes: int) -> int:
    """Return the number of episodes between two updates, in a trial of `episodes`."""
    return episodes if update_every == "trial" else update_every


TrialEpisodes = Sequence[Sequence[Episode]]
"""Episodes by position in the trial, and then by environment."""


class UpdateData(NamedTuple):
    """Episodes since the last update of a seat."""

    episodes: TrialEpisodes
    slot: int
    key: Key
    log_odds: tuple[tuple[float, ...], ...] = ()
    """Log-odds of each seat's first action, in the first round and after each joint action, as they were played; only
    for seats that need them."""
    episodes_before: int | None = None
    """Number of episodes of the run before these, in each environment."""
    trials_before: int | None = None
    """Number of trials of the run before the one of these."""


class Seat:
    """Player and memory of a seat; this class is never updated."""

    needs_policies: ClassVar[bool] = False
    """True if it learns from the policies of all seats."""

    def __init__(self, player: Player, memory: str = "none", every: int = 0) -> None:
        """`every` is the number of episodes between updates; 0 is never."""
        self.player = player
        self.memory = memory
        self.every = every

    def update(self, data: UpdateData) -> Metrics:
        """Learn from the episodes since the last update."""
        return {}

    def findings(self) -> Mapping[str, Any]:
        """Findings of its training monitor, by check."""
        return {}

    def reading(self) -> Mapping[str, str]:
        """Sentence by component: whether its model shares prefixes of texts, and why."""
        return {}

    @property
    def subject(self) -> TrainingSubject | None:
        """Its engine and model, which are compared before it is trained."""
        return None

    def state(self) -> dict[str, Any]:
        """All that later play depends on, except weights."""
        return {}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Continue from a state and the weights in the folder of its checkpoint."""

    def write(self, folder: Path) -> None:
        """Write the weights into the folder of a checkpoint."""


@dataclass(frozen=True)
class Transition:
    """A decision of a seat with its reward."""

    trajectory: int
    """Number of the trajectory over which returns are summed: the episodes of one environment since the last update."""
    turn: tuple[int, int]
    """Position of the episode in the trial, and turn of the decision in it."""
    decision: Decision
    reward: float
    others_reward: float
    """Sum of the other seats' payoffs until the seat's next decision."""
    episode: Episode


def transitions_of(trial: TrialEpisodes, slot: int, *, shared: bool = False) -> list[Transition]:
    """Return the transitions of one seat, by episode and then by environment; discarded decisions are left out.

    With `shared`, the reward of a decision is the sum of all seats' payoffs until the seat's next decision.
    """
    return [
        Transition(environment, (number, row.turn), row, reward, others, episode)
        for number, episodes in enumerate(trial)
        for environment, episode in enumerate(episodes)
        for row, reward, others in _rewards(episode, slot, shared=shared)
        if row.keep
    ]


def merge_rewards(transitions: Sequence[Transition], is_trained: Callable[[Transition], bool]) -> list[Transition]:
    """Return the transitions that are trained on; the rewards of another one are added to the trained one before it.

    Where no trained transition comes before it in its trajectory, its rewards are added to the first.
    """
    trained = [is_trained(transition) for transition in transitions]
    target = {t.trajectory: index for index, t in reversed(list(enumerate(transitions))) if trained[index]}
    rewards = [(t.reward, t.others_reward) if trained[index] else (0.0, 0.0) for index, t in enumerate(transitions)]
    for index, transition in enumerate(transitions):
        if trained[index]:
            target[transition.trajectory] = index
        elif transition.trajectory in target:
            own, others = rewards[target[transition.trajectory]]
            rewards[target[transition.trajectory]] = own + transition.reward, others + transition.others_reward
    return [
        replace(t, reward=rewards[index][0], others_reward=rewards[index][1])
        for index, t in enumerate(transitions)
        if trained[index]
    ]


def _rewards(episode: Episode, slot: int, *, shared: bool) -> list[tuple[Decision, float, float]]:
    """Return a seat's decisions with their rewards and the others'; of several attempts at a turn, the last counts."""
    seat = episode.seat_of(slot)
    rows = list({row.turn: row for row in episode.decisions if row.seat == seat}.values())
    ends = [row.round for row in rows[1:]] + [len(episode.rounds)]
    sums, own = [sum(payoffs) for payoffs in episode.rounds], [payoffs[seat] for payoffs in episode.rounds]
    return [
        (
            row,
            sum(sums[row.round : end]) if shared else row.payoff,
            sum(sums[row.round : end]) - sum(own[row.round : end]),
        )
        for row, end in zip(rows, ends, strict=True)
    ]
