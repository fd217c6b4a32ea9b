"""Every algorithm that a recipe can name; a package adds its own by the entry point `stratagem.algorithms`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stratagem.algorithms.grpo import GRPOAlgorithm
from stratagem.algorithms.kl_sft.algorithm import KLSFTAlgorithm
from stratagem.algorithms.league.algorithm import LeagueAlgorithm
from stratagem.algorithms.reinforce import REINFORCEAlgorithm
from stratagem.algorithms.scopal.algorithm import ScopalAlgorithm
from stratagem.algorithms.sepo.algorithm import SEPOAlgorithm
from stratagem.algorithms.shapellm.algorithm import ShapeLLMAlgorithm
from stratagem.base.errors import BadParameter, BadRecord, UnknownName
from stratagem.base.registry import Registry
from stratagem.base.renamed.recipes import RENAMED_ALGORITHMS
from stratagem.base.renamed.upgrade import Upgrade
from stratagem.language.models.load import check_present
from stratagem.training.algorithm import Algorithm
from stratagem.training.recipe_file import AnyRecipe, origin_of_table, recipe_data
from stratagem.training.runs.binding import check_recipe, other_release
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.source_files import bind_source_files
from stratagem.training.shipped import name_of

ALGORITHMS: Registry[Algorithm[Any]] = Registry(
    "algorithm",
    {
        "sepo": SEPOAlgorithm,
        "grpo": GRPOAlgorithm,
        "reinforce": REINFORCEAlgorithm,
        "kl_sft": KLSFTAlgorithm,
        "league": LeagueAlgorithm,
        "scopal": ScopalAlgorithm,
        "shapellm": ShapeLLMAlgorithm,
    },
    "stratagem.algorithms",
    Algorithm,
)
"""Algorithms by the name that a recipe gives."""
DEFAULT = "sepo"
"""Algorithm of a recipe that names none."""


def algorithm_of(data: Mapping[str, Any]) -> type[Algorithm[Any]]:
    """Return the algorithm that a recipe names."""
    name = data.get("algorithm", DEFAULT)
    if not isinstance(name, str):
        raise UnknownName("algorithm", str(name), ALGORITHMS.names())
    if name in RENAMED_ALGORITHMS and name not in ALGORITHMS.names():
        new = RENAMED_ALGORITHMS[name]
        raise BadParameter(f'The algorithm {name} is now called {new}: write `algorithm = "{new}"`.')
    algorithm = ALGORITHMS.factory(name)
    if not (isinstance(algorithm, type) and issubclass(algorithm, Algorithm)):
        raise BadParameter(f"The algorithm {name} is no subclass of stratagem.training.algorithm.Algorithm.")
    return algorithm


def read_any(
    paths: Path | Sequence[Path],
    changes: Mapping[str, object] | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    of_run: bool = False,
) -> AnyRecipe:
    """Read a recipe, or several as one, of whatever algorithm; `of_run` is for the configuration of a run."""
    data = recipe_data(paths, changes, settings=settings, of_run=of_run)
    kind = algorithm_of(data).recipe_type
    if not isinstance(paths, Path):
        _check_tables(paths, data, kind)
    return kind.read(data)


def _check_tables(paths: Sequence[Path], data: Mapping[str, Any], kind: type[AnyRecipe]) -> None:
    """Refuse a recipe among several that has the table of another algorithm, such as [sepo]."""
    foreign = data.keys() & set(ALGORITHMS.names()) - kind.model_fields.keys()
    for path in paths if foreign else ():
        if found := foreign & recipe_data(path).keys():
            table = found.pop()
            origin = origin_of_table(table, path)
            named = f"{name_of(origin)}, which {path} extends," if origin != path else str(path)
            raise BadParameter(
                f"The recipe {named} has the table {table}, which the algorithm {data.get('algorithm', DEFAULT)} "
                "has not: compose recipes of one algorithm."
            )


def recipe_of(run: RunFolder) -> AnyRecipe:
    """Read the recipe of a run; refused where its configuration has changed since the run began.

    Keys of earlier releases are read under their new names.
    """
    check_recipe(run)
    bind_source_files(run.info().files, run.path)
    data = recipe_data(run.path / "config.toml", of_run=True)
    data, upgrade = upgrade_data(data)
    if upgrade.lost:
        raise BadRecord(
            f"{run.path} cannot be read with the keys of today: {'; '.join(upgrade.lost)}{other_release(run)}."
        )
    try:
        return algorithm_of(data).recipe_type.read(data)
    except BadParameter as error:
        if not (hint := other_release(run)):
            raise
        raise BadRecord(f"{str(error).rstrip('.')}{hint}.") from error


def upgrade_data(data: Mapping[str, Any]) -> tuple[dict[str, Any], Upgrade]:
    """Return the settings of a recipe under the names of today, with what was renamed and what would be lost."""
    upgrade, table = Upgrade(), dict(data)
    if (old := data.get("algorithm")) in RENAMED_ALGORITHMS and old not in ALGORITHMS.names():
        table["algorithm"] = RENAMED_ALGORITHMS[old]
        upgrade.renamed["algorithm"] = f'`algorithm = "{table["algorithm"]}"`'
    return upgrade.table(algorithm_of(table).recipe_type, table), upgrade


def check_new(recipe: AnyRecipe, run: RunFolder) -> None:
    """Refuse a recipe that cannot be trained, before its run is made."""
    for text in recipe.bases:
        check_present(text)
    bound(recipe, run)


def bound(recipe: AnyRecipe, run: RunFolder, *, strict: bool = False) -> Algorithm[Any]:
    """Bind the algorithm of a recipe to the folder of a run; refused where the recipe cannot be trained."""
    return algorithm_of({"algorithm": getattr(recipe, "algorithm", DEFAULT)})(recipe, run, strict=strict)
