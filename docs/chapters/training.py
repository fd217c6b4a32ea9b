"""Recipes: every setting with its type, its default and what it does, and the recipes that come with Stratagem."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from chapters.markdown import code, definition, page, table
from stratagem.algorithms.sepo.recipe import SEPORecipe, SEPOSettings, read_recipe
from stratagem.base.named import NamedObject
from stratagem.base.setting_types import describe_fields
from stratagem.base.settings import Settings
from stratagem.games.safety.catalogue import SAFETY
from stratagem.language.engines.spec import TrainableEngineSpec
from stratagem.language.models.decoding_settings import Sampler
from stratagem.learn.advantages.base import AdvantageEstimator
from stratagem.learn.kl_controller import KLRule
from stratagem.learn.losses.base import Loss
from stratagem.learn.optimizer import OptimizerMethod, OptimizerSettings
from stratagem.learn.reference import ReferenceSettings
from stratagem.learn.schedules import LearningRateSchedule
from stratagem.training.opponents.matchmaking import Matchmaker
from stratagem.training.sft import AdapterSettings, SFTStageSettings, SourceSettings
from stratagem.training.shipped import shipped_recipes
from stratagem.training.stopping import StoppingSettings

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
TABLES: dict[str, type[Settings]] = {
    "sft": SFTStageSettings,
    "sft.sources": SourceSettings,
    "adapter": AdapterSettings,
    "reference": ReferenceSettings,
    "stop": StoppingSettings,
    "sepo": SEPOSettings,
    "optimizer": OptimizerSettings,
}
"""The tables of a recipe, by the name that they have in TOML."""
HEADS = ("setting", "type", "default", "meaning")
Links = Mapping[type[Settings], str]
"""Where each table is told of."""
NAMED: dict[Any, str] = {
    Loss: "losses.md",
    AdvantageEstimator: "advantages.md",
    TrainableEngineSpec: "engines.md",
    OptimizerMethod: "optimizers.md#optimizers",
    LearningRateSchedule: "optimizers.md#learning-rate-schedules",
    KLRule: "optimizers.md#kl-rules",
    Matchmaker: "matchmakers.md",
    Sampler: "samplers.md",
}
"""Where it is told which names there are."""
WORDS: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below", "min_length": "at least"}
LINKS: Links = {settings: f"#{name.replace('.', '')}" for name, settings in TABLES.items()}
EXTENDS = (
    "`extends`",
    "list of texts",
    "",
    "Recipes that this one extends: paths relative to its file, or names of shipped recipes.",
)


def recipes() -> str:
    """The page."""
    return page(
        "Recipes",
        "Settings of a SEPO recipe. A recipe is a TOML file with the settings that differ from these defaults: see "
        "[Train by a recipe](../how-to/train-by-a-recipe.md). `stratagem train RECIPE --dry-run` prints a recipe with "
        "every setting. Unknown names and contradictory settings are refused.",
        "## Top level",
        table(HEADS, [*rows(SEPORecipe), EXTENDS]),
        *(_table(name, settings) for name, settings in TABLES.items()),
        "## Weights of the penalties",
        "Defaults of `sepo.exploitability_weight`, `sepo.collusion_weight` and `sepo.externality_weight`. In other "
        "games the defaults are 1, or those that the game declares: see [Add a game](../how-to/add-a-game.md). A "
        "penalty whose pool is empty, or whose signal the game does not have, is inactive, and a warning says so.",
        table(
            ("family", "exploitability", "collusion", "externality"),
            ((family, *safety.weights) for family, safety in SAFETY.items() if safety.pools),
        ),
        "## Shipped recipes",
        "`stratagem train` composes several recipes, as [Train by a recipe](../how-to/train-by-a-recipe.md) shows. The "
        "first line of each file is a command that uses it. `stratagem recipes` prints this list.",
        table(("recipe", "what it is"), ((code(recipe.name), recipe.summary) for recipe in shipped_recipes())),
        "## SEPO by game and model",
        "A file of `recipes/models/` has the settings of a model, and one of `recipes/sepo/` those of a game. Some "
        "pairs of a game and a model have settings of their own, and so a file.",
        table(("recipes", "games", "model", "mode", "steps"), map(_recipe, _compositions())),
    )


def _compositions() -> Iterator[tuple[Path, ...]]:
    """Recipes of every game with every model."""
    models = sorted(path.stem for path in RECIPES.glob("models/*.toml"))
    games = sorted(path.stem for path in RECIPES.glob("sepo/*.toml") if not path.stem.endswith(tuple(models)))
    for game, model in product(games, models):
        own = RECIPES / "sepo" / f"{game}-{model}.toml"
        yield (own,) if own.exists() else (RECIPES / "sepo" / f"{game}.toml", RECIPES / "models" / f"{model}.toml")


def _table(name: str, settings: type[Settings]) -> str:
    where = {
        "optimizer": "`[sft.optimizer]` and `[sepo.optimizer]`; the learning rate of each is in their defaults.",
        "adapter": "`[adapter]` is the adapter of SEPO. `[sft.adapter]` is that of SFT, if given.",
    }
    told = " ".join(filter(None, (definition(settings), where.get(name, ""))))
    return f"## {name}\n\n{told}\n\n{table(HEADS, rows(settings))}"


def rows(settings: type[Settings], links: Links | None = None) -> Iterator[tuple[str, str, str, str]]:
    """A line for every setting; `links` says where the tables that are settings themselves are."""
    texts = describe_fields(settings)
    for name, field in settings.model_fields.items():
        if name not in texts:
            raise RuntimeError(f"the setting {name} says nowhere what it does")
        told = kind(field.annotation, links) + _bounds(field)
        yield code(name), told, _default(field.default), " ".join(texts[name].split())


def kind(annotation: Any, links: Links | None = None) -> str:
    """A type in plain words; a table with a link to where it is told of."""
    options = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return kind(options[0], links)
    if get_origin(annotation) is Literal:
        return " or ".join(code(_toml(option)) for option in options)
    if get_origin(annotation) in (Union, types.UnionType):
        return " or ".join(kind(option, links) for option in options if option is not type(None))
    if get_origin(annotation) is tuple:
        one = kind(options[0], links)
        return f"list of {one}s" if options[-1] is ... else f"list of {len(options)} {one}s"
    if get_origin(annotation) is dict:
        return f"by name: {kind(options[1], links)}"
    if get_origin(annotation) is NamedObject:
        return f"[name or table]({NAMED[options[0]]})"
    if annotation in WORDS:
        return WORDS[annotation]
    return f"[table]({(links or LINKS)[annotation]})"


def _bounds(field: FieldInfo) -> str:
    found = ((word, getattr(limit, name, None)) for limit in field.metadata for name, word in BOUNDS.items())
    told = [f"{word} {value:g}" for word, value in found if value is not None]
    return f", {' and '.join(told)}" if told else ""


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return "must be given"
    if isinstance(value, NamedObject):
        return code(value)
    if isinstance(value, OptimizerSettings):
        rate, ratio = f"{value.learning_rate:g}", f"{value.warmup_ratio:g}"
        return f'`learning_rate = {rate}, schedule = "{value.schedule.type}", warmup_ratio = {ratio}`'
    if isinstance(value, Settings):
        return ""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, tuple | dict) and not value:
        return "none"
    if isinstance(value, tuple):
        return code(f"[{', '.join(map(_toml, value))}]")
    if isinstance(value, dict):
        return code(f"{{ {', '.join(f'{name} = {_toml(one)}' for name, one in value.items())} }}")
    return code(_toml(value))


def _toml(value: str | float | Settings) -> str:
    if isinstance(value, Settings):
        return "{}"
    return f'"{value}"' if isinstance(value, str) else f"{value:.10g}"


def _recipe(paths: tuple[Path, ...]) -> tuple[str, str, str, str, str]:
    recipe = read_recipe(paths)
    steps = f"{recipe.sft_steps} + {recipe.sepo.iterations}"
    names = " ".join(path.relative_to(RECIPES).with_suffix("").as_posix() for path in paths)
    return code(names), ", ".join(recipe.games), code(recipe.model), recipe.mode, steps
