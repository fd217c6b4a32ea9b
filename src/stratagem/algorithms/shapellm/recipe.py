"""Recipe for ShapeLLM: the game, the seats, and the length of a trial."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from stratagem.algorithms.kl_sft.algorithm import KLSFTRecipe, KLSFTSettings
from stratagem.algorithms.kl_sft.target_policies import TargetPolicy
from stratagem.algorithms.shapellm.seat import (
    FrozenSettings,
    ModelSettings,
    NaiveSettings,
    PPOLearnerSettings,
    PromptSettings,
    ScriptedSettings,
    ShaperSettings,
    TabularSettings,
    episodes_between,
)
from stratagem.algorithms.shapellm.shapers.gradient_shapers import AdvantageAlignmentSettings, LOLASettings, SOSSettings
from stratagem.algorithms.shapellm.shapers.memory_one import ExactSettings, MemoryOneSettings
from stratagem.algorithms.shapellm.shapers.mfos import MFOSSettings
from stratagem.base.settings import FiniteSettings
from stratagem.language.models.reference import parse_model
from stratagem.measure.best_response import BUDGET
from stratagem.training.learner_models import LearnerBase, each_base
from stratagem.training.recipe_file import AnyRecipe, over
from stratagem.training.sft import AdapterSettings
from stratagem.training.stopping import StoppingSettings

AnySeat = (
    NaiveSettings
    | ShaperSettings
    | FrozenSettings
    | ScriptedSettings
    | TabularSettings
    | ExactSettings
    | LOLASettings
    | SOSSettings
    | MFOSSettings
    | AdvantageAlignmentSettings
)
# A union of settings and no registry: a learner has tables inside (adapter, ppo) that [defaults.KIND] lies under, and
# an own one would be a seat with its construction, memory and checkpoint, which is an algorithm's.
SeatSettings = Annotated[AnySeat, Field(discriminator="learner")]
KINDS: tuple[str, ...] = tuple(str(kind.model_fields["learner"].default) for kind in get_args(AnySeat))
"""Names of the kinds of learners."""


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_TAKEN = "lora_"


class FinalEvaluationSettings(FiniteSettings):
    """Final evaluation: games after training, without learning."""

    episodes: int = Field(default=100, ge=1)
    """Number of episodes of each length."""
    rounds: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """Lengths in rounds, for games with that parameter; without any, the length of a training episode."""


class ShapeLLMRecipe(AnyRecipe):
    """KL-SFT to target policies, then trials: parallel environments of several successive episodes."""

    algorithm: Literal["shapellm"] = "shapellm"
    """Name of the algorithm."""
    game: str = "ipd-shapellm"
    """Game of all episodes."""
    model: str = "tiny"
    """Base model of every seat that names none."""
    seats: dict[str, SeatSettings] = Field(min_length=1)
    """Seats by names of your own, in the order of the game's seats."""
    trials: int = Field(default=300, ge=1)
    """Number of trials; all learners keep what they learnt between two."""
    environments: int = Field(default=5, ge=1)
    """Number of parallel environments."""
    episodes: int = Field(default=5, ge=1)
    """Number of successive episodes of an environment in a trial; a game's own `rounds` is the length of one."""
    target_policies: tuple[TargetPolicy, ...] = ()
    """Target policies of the seats; the base is trained to them before the first trial. A warning says where it is far
    from one at the first trial. Without any, or with `kl_sft.epochs = 0`, the base is unchanged."""
    kl_sft: KLSFTSettings = KLSFTSettings()
    """Training of the base to its target policies."""
    checkpoint_every: int = Field(default=10, ge=1)
    """Number of trials between two checkpoints."""
    record_every: int = Field(default=10, ge=1)
    """Number of trials between two that are recorded; the first and the last are recorded, too."""
    exact_every: int = Field(default=0, ge=0)
    """Number of trials between two measurements of the exact exploitability of all seats together: the mean over seats
    of what a best response would gain there. 0 measures none."""
    exact_budget: int = Field(default=BUDGET, ge=1)
    """Situations that may be walked for an exact figure; one that a model is asked about counts 40."""
    stop: StoppingSettings | None = None
    """Rule that ends the iterations early, where a validation metric stands still; here the trials, by a metric of
    `exact_every`. Without this table there is none."""
    final_evaluation: FinalEvaluationSettings = FinalEvaluationSettings()
    """Evaluation of the final policies."""

    @model_validator(mode="before")
    @classmethod
    def _over_defaults(cls, data: Any) -> Any:
        """Lay each seat over the `defaults` of its kind of learner, such as [defaults.naive]."""
        if not isinstance(data, Mapping) or "defaults" not in data:
            return data
        usual, seats = data["defaults"], data.get("seats", {})
        if not _is_tables(usual) or not _is_tables(seats):
            raise ValueError(
                "`defaults` has a table for a kind of learner, as [defaults.naive], and `seats` one for each seat"
            )
        if unknown := set(usual) - set(KINDS):
            raise ValueError(f"`defaults` has {', '.join(sorted(unknown))}, and there are {', '.join(KINDS)}")
        whole = {name: over(usual.get(str(seat.get("learner")), {}), seat) for name, seat in seats.items()}
        return {**{name: value for name, value in data.items() if name != "defaults"}, "seats": whole}

    @model_validator(mode="after")
    def _check_measurements(self) -> Self:
        if self.stop is not None and not self.exact_every:
            raise ValueError("`stop` reads the measurements of `exact_every`, which is 0: give it a number of trials")
        if not self.exact_every:
            return self
        for name, seat in self.seats.items():
            if isinstance(seat, PromptSettings) and seat.memory == "trial":
                raise ValueError(
                    f"`exact_every` measures the policies of one episode, and `seats.{name}` remembers the trial: give "
                    "it another `memory`, or leave `exact_every` at 0"
                )
        return self

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for name, seat in self.seats.items():
            if not _NAME.fullmatch(name) or name in _TAKEN:
                raise ValueError(
                    f"a seat cannot be called {name!r}: take letters, digits, - and _, a letter first, no part of lora_"
                )
            if isinstance(seat, PPOLearnerSettings | TabularSettings | MemoryOneSettings):
                self._check_update_every(name, episodes_between(seat.update_every, self.episodes))
            if isinstance(seat, PPOLearnerSettings | TabularSettings):
                self._check_environments(name, seat)
            if isinstance(seat, PPOLearnerSettings):
                self._check_learner(name, seat)
        if self.target_policies and not self.bases:
            raise ValueError(
                "`target_policies` train the base of seats that learn, and no seat is on one: leave them out"
            )
        if fixed := [base.model for base in self.trained_bases if parse_model(base.model).four_bit]:
            raise ValueError(
                f"{fixed[0]!r} in 4 bits cannot be trained to `target_policies`: leave them out, or +4bit, or set "
                "`kl_sft.epochs = 0`"
            )
        return self

    def _check_update_every(self, name: str, between: int) -> None:
        if self.episodes % between:
            raise ValueError(
                f"`seats.{name}` learns every {between} episodes, which do not divide the {self.episodes} of a trial: "
                'take an `update_every` that does, or "trial"'
            )

    def _check_environments(self, name: str, seat: PPOLearnerSettings | TabularSettings) -> None:
        """Refuse one environment where the baseline is the mean over environments, so all advantages would be 0."""
        how = seat.compares_episodes if isinstance(seat, TabularSettings) else seat.ppo.compares_episodes
        if how and self.environments == 1:
            raise ValueError(
                f"`seats.{name}` compares its `environments` (`{how}`), and with one all advantages are 0: "
                "take at least 2"
            )

    def _check_learner(self, name: str, seat: PPOLearnerSettings) -> None:
        text = self.base_of(seat).model
        ref = parse_model(text)
        if seat.optimizer.schedule.type != "constant" or seat.optimizer.warmup_ratio:
            raise ValueError(
                f"`seats.{name}.optimizer` cannot have a schedule, as how many steps are taken depends on what is "
                "played: its `learning_rate_scale` goes by how often it learns"
            )
        if ref.kind == "api":
            raise ValueError(f"`seats.{name}` learns, and a model behind a server has no weights here: name another")
        if ref.adapters:
            raise ValueError(f"`seats.{name}` learns an adapter of its own: name a base without one, not {text!r}")

    @property
    def sft_steps(self) -> int:
        """Number of optimizer steps of KL-SFT, over all bases."""
        if not self.trained_bases:
            return 0
        one = KLSFTRecipe(target_policies=self.target_policies, kl_sft=self.kl_sft)
        return one.steps * len(self.trained_bases)

    @property
    def trained_bases(self) -> tuple[LearnerBase, ...]:
        """Base models that KL-SFT trains: none without target policies, or without an epoch."""
        return self.learner_bases if self.target_policies and self.kl_sft.epochs else ()

    @property
    def meta_steps(self) -> int:
        """Number of generations in which the meta-policies of M-FOS are trained."""
        return max((seat.generations for seat in self.seats.values() if isinstance(seat, MFOSSettings)), default=0)

    @property
    def bases(self) -> tuple[str, ...]:
        """Base models of the seats, each once."""
        return tuple(dict.fromkeys(base.model for base in self.learner_bases))

    @property
    def learner_bases(self) -> tuple[LearnerBase, ...]:
        """Base models of the seats with their devices, each once."""
        with_model = (seat for seat in self.seats.values() if isinstance(seat, ModelSettings))
        return each_base(self.base_of(seat) for seat in with_model if not self.has_own_model(seat))

    @property
    def open_bases(self) -> set[LearnerBase]:
        """Base models with a seat in mode `single`, whose reply may be any token."""
        with_model = (seat for seat in self.seats.values() if isinstance(seat, ModelSettings))
        return {self.base_of(seat) for seat in with_model if seat.mode == "single"}

    def adapters_on(self, base: LearnerBase) -> list[AdapterSettings]:
        """Return the adapters that the seats train on a base."""
        learners = (seat for seat in self.seats.values() if isinstance(seat, PPOLearnerSettings))
        return [seat.adapter for seat in learners if self.base_of(seat) == base]

    def base_of(self, seat: ModelSettings) -> LearnerBase:
        """Return the base model of a seat."""
        return LearnerBase(seat.model or self.model, seat.device if isinstance(seat, PPOLearnerSettings) else "")

    def has_own_model(self, seat: ModelSettings) -> bool:
        """True for a frozen seat that names a model, which this run does not change."""
        return isinstance(seat, FrozenSettings) and bool(seat.model)


def _is_tables(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(inner, Mapping) for inner in value.values())
