"""A recipe for SEPO: which model learns which games, by which stages; the file names what differs from the defaults."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from stratagem.algorithms.demonstrations import num_taught
from stratagem.algorithms.sepo_settings import SEPOSettings
from stratagem.algorithms.sft import AdapterSettings, SFTSettings
from stratagem.errors import BadParameter
from stratagem.evaluation.best_response import BUDGET
from stratagem.learning.reference import ReferenceSettings
from stratagem.models.reference import parse_model
from stratagem.players.modes import MODES
from stratagem.settings import FiniteSettings


class Recipe(FiniteSettings):
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
    seed: int = 0
    """What all that is random follows from."""
    budget: int = Field(default=4096, ge=1)
    """Tokens that are read at once in training; it changes memory, not results."""
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
    """The recipe in a file, with some settings changed: `{"sepo.alpha": "3"}`.

    A file may say `extends = ["a.toml", "b.toml"]`, by paths from its own: what each sets takes the place of what the
    ones before it set, and its own settings the place of theirs.
    """
    data = _data(path, ())
    for place, value in (changes or {}).items():
        _change(data, place, value)
    return Recipe.read(data)


def _data(path: Path, below: tuple[Path, ...]) -> dict[str, Any]:
    """The settings of a file and of those that it extends."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"The recipe {path} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadParameter(f"The recipe {path} is no TOML: {error}.") from error
    extended = data.pop("extends", [])
    if not isinstance(extended, list) or not all(isinstance(name, str) for name in extended):
        raise BadParameter(f'`extends` in {path} is a list of recipes, such as ["kuhn.toml"].')
    if path.resolve() in below:
        raise BadParameter(f"The recipe {path} extends itself.")
    whole: dict[str, Any] = {}
    for name in extended:
        whole = over(whole, _data(path.parent / name, (*below, path.resolve())))
    return over(whole, data)


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two tables as one: tables in them are joined, other values of `above` take the place of those of `below`."""
    joined = dict(below)
    for name, value in above.items():
        inner = joined.get(name)
        joined[name] = over(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return joined


def _change(data: dict[str, object], place: str, value: str) -> None:
    """Set `a.b` to a TOML value, or to a text where it is none."""
    *tables, name = place.split(".")
    for table in tables:
        inner = data.setdefault(table, {})
        if not isinstance(inner, dict):
            raise BadParameter(f"{place} names a setting inside {table}, which is no table.")
        data = inner
    try:
        data[name] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        data[name] = value
