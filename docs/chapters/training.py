"""Recipes: every setting with its type, its default and what it does, and the recipes that come with Stratagem."""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from chapters.markdown import code, definition, page, table
from stratagem.algorithms.recipe import Recipe, read_recipe
from stratagem.algorithms.sepo_settings import SEPOSettings
from stratagem.algorithms.sft import AdapterSettings, SFTSettings
from stratagem.evaluation.metrics.safety import WEIGHTS
from stratagem.learning.optimiser import OptimiserSettings
from stratagem.learning.reference import ReferenceSettings
from stratagem.settings import Settings

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
TABLES: dict[str, type[Settings]] = {
    "warm_start": SFTSettings,
    "adapter": AdapterSettings,
    "reference": ReferenceSettings,
    "sepo": SEPOSettings,
    "optimiser": OptimiserSettings,
}
"""The tables of a recipe, by the name that they have in TOML."""
WORDS: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below", "min_length": "at least"}
EXTENDS = "`extends`", "list of texts", "", "Recipes that this one goes on from, by paths from its own file."


def recipes() -> str:
    """The page."""
    return page(
        "Recipes",
        "A recipe is a TOML file that names what differs from these defaults. "
        "[Train by a recipe](../how-to/train-by-a-recipe.md) shows how; `stratagem train RECIPE --dry-run` prints a "
        "recipe with every setting in it. An unknown name is refused, and so is a combination that cannot be.",
        "## At the top",
        table(("setting", "type", "default", "what it does"), [*_rows(Recipe), EXTENDS]),
        *(_table(name, settings) for name, settings in TABLES.items()),
        "## What the penalties cost",
        "Where `sepo.alpha`, `sepo.beta` and `sepo.gamma` are not set. A game of another family costs nothing, so set "
        "them there.",
        table(("family", "alpha", "beta", "gamma"), ((family, *costs) for family, costs in WEIGHTS.items())),
        "## Recipes that come along",
        "A file `recipes/sepo/GAME-MODEL.toml` extends one of `recipes/models/`, which says how a model learns, and "
        "`recipes/sepo/GAME.toml`, which says what is special about the game.",
        table(("recipe", "games", "model", "mode", "steps"), map(_recipe, _recipes())),
    )


def _recipes() -> list[Path]:
    """Those that name a model."""
    models = [path.stem for path in RECIPES.glob("models/*.toml")]
    return sorted(path for model in models for path in RECIPES.glob(f"sepo/*-{model}.toml"))


def _table(name: str, settings: type[Settings]) -> str:
    where = {
        "optimiser": "`[warm_start.optimiser]` and `[sepo.optimiser]`; the rate of each is in their defaults.",
        "adapter": "`[adapter]` is what SEPO trains; `[warm_start.adapter]` is what the warm start learns, if given.",
    }
    told = " ".join(filter(None, (definition(settings), where.get(name, ""))))
    rows = table(("setting", "type", "default", "what it does"), _rows(settings))
    return f"## {name}\n\n{told}\n\n{rows}"


def _rows(settings: type[Settings]) -> Iterator[tuple[str, str, str, str]]:
    for name, field in settings.model_fields.items():
        yield code(name), kind(field.annotation) + _bounds(field), _default(field.default), _meant(name, field)


def _meant(name: str, field: FieldInfo) -> str:
    if not field.description:
        raise RuntimeError(f"the setting {name} says nowhere what it does")
    return " ".join(field.description.split())


def kind(annotation: Any) -> str:
    """A type in plain words."""
    options = get_args(annotation)
    if get_origin(annotation) is Literal:
        return " or ".join(code(f'"{option}"') for option in options)
    if get_origin(annotation) in (Union, types.UnionType):
        return " or ".join(kind(option) for option in options if option is not type(None))
    if get_origin(annotation) is tuple:
        return f"list of {kind(options[0])}s" if options[-1] is ... else f"list of {len(options)} {kind(options[0])}s"
    if annotation in WORDS:
        return WORDS[annotation]
    return f"[table](#{next(name for name, settings in TABLES.items() if settings is annotation)})"


def _bounds(field: FieldInfo) -> str:
    found = ((word, getattr(limit, name, None)) for limit in field.metadata for name, word in BOUNDS.items())
    told = [f"{word} {value:g}" for word, value in found if value is not None]
    return f", {' and '.join(told)}" if told else ""


def _default(value: Any) -> str:
    if isinstance(value, OptimiserSettings):
        return f'`rate = {value.rate:g}, schedule = "{value.schedule}", warm_up = {value.warm_up:g}`'
    if isinstance(value, Settings):
        return ""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, tuple):
        return code(f"[{', '.join(map(_toml, value))}]")
    return code(_toml(value))


def _toml(value: str | float) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:.10g}"


def _recipe(path: Path) -> tuple[str, str, str, str, str]:
    recipe = read_recipe(path)
    steps = f"{recipe.warm_steps} + {recipe.sepo.iterations}"
    return code(f"recipes/sepo/{path.name}"), ", ".join(recipe.games), code(recipe.model), recipe.mode, steps
