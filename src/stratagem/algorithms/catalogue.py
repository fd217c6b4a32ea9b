"""Every algorithm that a recipe can name; a package adds its own by the entry point `stratagem.algorithms`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stratagem.algorithms.grpo.algorithm import GRPOAlgorithm
from stratagem.algorithms.kl_sft.algorithm import KLSFTAlgorithm
from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.algorithms.reinforce import REINFORCEAlgorithm
from stratagem.algorithms.scopal.algorithm import ScopalAlgorithm
from stratagem.algorithms.sepo.algorithm import SEPOAlgorithm
from stratagem.algorithms.shapellm.algorithm import ShapeLLMAlgorithm
from stratagem.errors import BadParameter, UnknownName
from stratagem.registry import Registry
from stratagem.runs.binding import check_recipe
from stratagem.runs.folder import RunFolder
from stratagem.training.algorithm import Algorithm
from stratagem.training.recipe_file import AnyRecipe, recipe_data

ALGORITHMS: Registry[Algorithm[Any]] = Registry(
    "algorithm",
    {
        "sepo": SEPOAlgorithm,
        "grpo": GRPOAlgorithm,
        "reinforce": REINFORCEAlgorithm,
        "kl_sft": KLSFTAlgorithm,
        "league": LeagueAlgorithm,
        "scopal": ScopalAlgorithm,
        "shaping": ShapeLLMAlgorithm,
    },
    "stratagem.algorithms",
)
"""By the name that a recipe gives."""
DEFAULT = "sepo"
"""Algorithm of a recipe that names none."""


def algorithm_of(data: Mapping[str, Any]) -> type[Algorithm[Any]]:
    """The algorithm that a recipe names."""
    name = data.get("algorithm", DEFAULT)
    if not isinstance(name, str):
        raise UnknownName("algorithm", str(name), ALGORITHMS.names())
    found = ALGORITHMS.factory(name)
    if not (isinstance(found, type) and issubclass(found, Algorithm)):
        raise BadParameter(f"The algorithm {name} is no subclass of stratagem.training.algorithm.Algorithm.")
    return found


def read_any(paths: Path | Sequence[Path], changes: Mapping[str, str] | None = None) -> AnyRecipe:
    """Read a recipe, or several as one, of whatever algorithm."""
    data = recipe_data(paths, changes)
    kind = algorithm_of(data).recipe_type
    if not isinstance(paths, Path):
        _check_tables(paths, str(data.get("algorithm", DEFAULT)), kind)
    return kind.read(data)


def _check_tables(paths: Sequence[Path], name: str, kind: type[AnyRecipe]) -> None:
    """Refuse a recipe among several that has the table of another algorithm, such as [sepo]."""
    foreign = set(ALGORITHMS.names()) - kind.model_fields.keys()
    for path in paths:
        if found := foreign & recipe_data(path).keys():
            raise BadParameter(
                f"The recipe {path} has the table {found.pop()}, which the algorithm {name} has not: compose recipes "
                "of one algorithm."
            )


def recipe_of(run: RunFolder) -> AnyRecipe:
    """The recipe of a run; refused where its configuration has changed since the run began."""
    check_recipe(run)
    return read_any(run.path / "config.toml")


def bound(recipe: AnyRecipe, run: RunFolder, *, strict: bool = False) -> Algorithm[Any]:
    """The algorithm of a recipe, bound to the folder of a run; refused where the recipe cannot be trained."""
    return algorithm_of({"algorithm": getattr(recipe, "algorithm", DEFAULT)})(recipe, run, strict=strict)
