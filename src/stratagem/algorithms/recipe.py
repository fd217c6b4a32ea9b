"""A recipe for SEPO: which model learns which game, by which stages; the file names what differs from the defaults."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from stratagem.algorithms.sepo import SEPOSettings
from stratagem.algorithms.sft import SFTSettings
from stratagem.errors import BadParameter
from stratagem.players.modes import MODES
from stratagem.settings import Settings


class AdapterSettings(Settings):
    """The LoRA adapter that is trained; the base stays, and is the reference."""

    rank: int = Field(default=16, ge=1)
    alpha: float = Field(default=32.0, gt=0.0)
    """The adapter's output is multiplied by alpha over rank."""


class Recipe(Settings):
    """Warm start by demonstrations, then SEPO."""

    algorithm: Literal["sepo"] = "sepo"
    game: str = "kuhn"
    model: str = "tiny"
    """The base, as `stratagem players` names models."""
    style: str = "plain"
    mode: str = "direct"
    temperature: float = Field(default=0.8, gt=0.0)
    """At which rollouts are drawn."""
    max_new: int = Field(default=256, ge=1)
    seed: int = 0
    budget: int = Field(default=4096, ge=1)
    """Tokens that are read at once in training; it changes memory, not results."""
    evaluate_every: int = Field(default=10, ge=1)
    """Iterations between two measurements, and between two checkpoints."""
    warm_start: SFTSettings | None = SFTSettings()
    """All weights of the base learn the demonstrations; none leaves the base as it is."""
    adapter: AdapterSettings = AdapterSettings()
    sepo: SEPOSettings = SEPOSettings()

    @field_validator("mode")
    @classmethod
    def _known(cls, mode: str) -> str:
        if mode not in MODES:
            raise ValueError(f"the modes are {', '.join(MODES)}")
        return mode


def read_recipe(path: Path, changes: dict[str, str] | None = None) -> Recipe:
    """The recipe in a file, with some settings changed: `{"sepo.alpha": "3"}`."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadParameter(f"The recipe {path} cannot be read: {error.strerror}.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadParameter(f"The recipe {path} is no TOML: {error}.") from error
    for place, value in (changes or {}).items():
        _change(data, place, value)
    return Recipe.read(data)


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
