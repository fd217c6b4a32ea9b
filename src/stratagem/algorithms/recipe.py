"""A recipe for SEPO: which model learns which games, by which stages; the file names what differs from the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from stratagem.algorithms.demonstrations import num_taught
from stratagem.algorithms.recipe_file import AnyRecipe, recipe_data
from stratagem.algorithms.sepo_settings import SEPOSettings
from stratagem.algorithms.sft import AdapterSettings, SFTSettings
from stratagem.evaluation.best_response import BUDGET
from stratagem.learning.reference import ReferenceSettings
from stratagem.models.reference import parse_model
from stratagem.players.modes import MODES


class Recipe(AnyRecipe):
    """Warm start by demonstrations, then SEPO."""

    algorithm: Literal["sepo"] = "sepo"
    """By which algorithm it learns."""
    games: tuple[str, ...] = Field(default=("kuhn",), min_length=1)
    """What is played; all games of an iteration make one step."""
    model: str = "tiny"
    """The base, as `stratagem players` names models."""
    style: str = "plain"
    """How a turn is put in words; `stratagem prompt` shows each style."""
    mode: str = "direct"
    """How the model comes to its action; only direct and single state their probabilities."""
    temperature: float = Field(default=0.8, gt=0.0)
    """At which rollouts are drawn, and the policy is measured."""
    max_new: int = Field(default=256, ge=1)
    """How many tokens a reply may have."""
    recompute: bool = False
    """Whether activations are computed again in the backward pass: less memory, a third more time."""
    warm_start: SFTSettings | None = None
    """How the base learns the demonstrations; without this table it stays as it is."""
    train: Literal["adapter", "all"] = "adapter"
    """What SEPO trains: an adapter, with the base as its reference, or all weights, without a reference."""
    adapter: AdapterSettings = AdapterSettings()
    """The adapter that SEPO trains."""
    reference: ReferenceSettings = ReferenceSettings()
    """What the policy is held near to."""
    evaluate_every: int = Field(default=10, ge=1)
    """Iterations between two validations, and between two checkpoints."""
    validation: int = Field(default=10, ge=1)
    """Episodes against each opponent of a validation; their deals differ from those of training and test."""
    test: int = Field(default=20, ge=1)
    """Episodes against each opponent of the last table."""
    exact_budget: int = Field(default=BUDGET, ge=1)
    """Situations that may be walked for an exact figure; one that a model is asked about counts 40."""
    select: Literal["safety", "exploitability"] = "safety"
    """What the best checkpoint has most of in validation: safety, or as little exact exploitability as can be."""
    sepo: SEPOSettings = SEPOSettings()
    """How SEPO trains."""

    @field_validator("mode")
    @classmethod
    def _known(cls, mode: str) -> str:
        if mode not in MODES:
            raise ValueError(f"the modes are {', '.join(MODES)}")
        return mode

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.train == "all" and self.sepo.kl:
            raise ValueError('with `train = "all"` nothing is left as a reference: set `sepo.kl` to 0')
        if self.train == "all" and self.reference.type == "ema":
            raise ValueError('a `reference` of type `ema` is the mean of an adapter: leave `train` at "adapter"')
        ref = parse_model(self.model)
        if ref.adapters or (ref.kind == "run" and ref.revision not in ("base", "start")):
            raise ValueError("a `model` with an adapter is no base to train on: take what it is on, as run:PATH@start")
        if ref.kind == "api":
            raise ValueError("a `model` behind a server has no weights here: take one that is on this machine")
        if ref.four_bit and (self.train == "all" or self.warm_steps):
            raise ValueError(
                'a `model` in 4 bits can carry an adapter, and cannot change itself: leave `train` at "adapter" and '
                "`warm_start` out"
            )
        if not MODES[self.mode].exact and (self.sepo.source == "best_response" or self.select == "exploitability"):
            exact = ", ".join(name for name, mode in MODES.items() if mode.exact)
            raise ValueError(
                f"in the mode {self.mode} a model states no probabilities, so `sepo.source` can only be `pool` and "
                f"`select` only `safety`; modes that state them are {exact}"
            )
        return self

    @property
    def warm_steps(self) -> int:
        """How many steps the warm start takes."""
        if self.warm_start is None:
            return 0
        return self.warm_start.steps(len(self.games) * num_taught(self.warm_start.examples))

    @property
    def steps(self) -> int:
        """How many steps the run takes."""
        return self.warm_steps + self.sepo.iterations


def read_recipe(path: Path, changes: Mapping[str, str] | None = None) -> Recipe:
    """The recipe in a file, with some settings changed: `{"sepo.alpha": "3"}`."""
    return Recipe.read(recipe_data(path, changes))
