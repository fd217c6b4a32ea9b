"""Recipe files: TOML that may extend other files, with overrides from the command line; and the engine of a recipe."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator

from stratagem.base.consent.needs import texts_of
from stratagem.base.consent.table import check_read, note_named, settle
from stratagem.base.consent.trusted import is_trusted
from stratagem.base.errors import BadParameter
from stratagem.base.files import read_small, reason
from stratagem.base.named import TYPE, NamedObject, RegistryReader, in_a_recipe
from stratagem.base.settings import FiniteSettings
from stratagem.language.engines.catalogue import engines
from stratagem.language.engines.spec import EngineSpec, TrainableEngineSpec
from stratagem.players.modes import MODES
from stratagem.playing.workers.plan import TABLES
from stratagem.training.runs.folder import is_run
from stratagem.training.sft import AdapterSettings
from stratagem.training.shipped import recipe_path

_DEFAULT = "transformers"
_read_spec = RegistryReader(engines, EngineSpec)


def read_engine(said: object) -> NamedObject[TrainableEngineSpec]:
    """Read an engine by a text or a table; a table without a type changes settings of the default engine."""
    if isinstance(said, Mapping) and TYPE not in said:
        said = {TYPE: _DEFAULT, **said}
    named = _read_spec(said)
    if not isinstance(named.value, TrainableEngineSpec):
        raise BadParameter(f"The engine {named.type} has no weights here to train: take another, such as {_DEFAULT}.")
    return NamedObject(named.type, named.parameters, named.value, named.given)


NamedEngine = Annotated[
    NamedObject[TrainableEngineSpec], PlainValidator(in_a_recipe(read_engine)), PlainSerializer(NamedObject.table)
]
"""An engine as a setting."""
DEFAULT_ENGINE = read_engine(_DEFAULT)


def _known_mode(mode: str) -> str:
    if mode not in MODES:
        raise ValueError(f"the modes are {', '.join(MODES)}")
    return mode


ModeName = Annotated[str, AfterValidator(_known_mode)]
"""Name of a decoding mode."""


GradientCheckpointing = Literal["auto"] | bool
"""Setting of gradient checkpointing; `auto` is settled when a run begins."""


@dataclass(frozen=True)
class RecipeWork:
    """Models of a recipe and the work of a step, from which its memory and time are estimated."""

    games: Sequence[str]
    """Games that are played."""
    steps: int
    """Number of steps of play and learning."""
    episodes: float
    """Episodes of a step; each seat that is trained counts as one, and so does each game."""
    batch: float | None = None
    """Replies of an optimizer step; None is all of a step."""
    passes: float = 1.0
    """Times that each reply is read with gradient."""
    style: str = "plain"
    """Prompt style."""
    mode: str = "direct"
    """Decoding mode."""
    max_new_tokens: int = 256
    """Maximum number of tokens of a reply."""
    adapter: AdapterSettings | None = None
    """Adapter of every learner; None where all weights are trained."""
    learners: int = 1
    """Number of adapters that are trained."""
    reference: str = ""
    """Number format of a copy of all weights as the reference, such as bf16; empty without one."""


class AnyRecipe(FiniteSettings):
    """Settings of the recipes of all algorithms."""

    seed: int = 0
    """Seed of everything random."""
    max_tokens_per_microbatch: int = Field(default=0, ge=0)
    """Maximum number of tokens in one forward and backward pass; gradients add up over the passes of a batch, so it
    changes memory and not results. Where texts share a prefix, a pass may read twice its longest text. 0 is chosen by
    free memory when the run begins: on a processor 4,096, or fewer where these do not fit."""
    logits_chunk_mib: int = Field(default=0, ge=0)
    """Size of the logits in fp32 that are computed at once in training, in MiB; last bits may depend on it. 0 is chosen
    when the run begins: 32 on a processor, and on a GPU up to 512 by free memory."""
    engine: NamedEngine = DEFAULT_ENGINE
    """Engine that plays, in training and in evaluation."""
    tables_per_shard: int = Field(default=0, ge=0)
    """Number of tables that are played together, and the unit of work of `--workers`; 0 takes the engine's `rows`.
    Tokens do not depend on it; log-probabilities change in their last bits."""
    num_threads: int = Field(default=0, ge=0, le=1024)
    """Number of threads of each process, at most 1024; 0 takes what the machine has when the run begins, shared between
    its workers. The last bits of all figures may depend on it, so a resumed run keeps its number."""
    checkpoint_minutes: float = Field(default=10.0, ge=0.0)
    """Minutes after the last checkpoint, or the beginning, after which the next step saves one; 0 saves none by time.
    So a run that is killed loses about this much work. Results do not depend on it."""

    @property
    def shard(self) -> int:
        """Number of tables that are played together."""
        return self.tables_per_shard or (getattr(self.engine.value, "rows", 0) or TABLES)

    @property
    def bases(self) -> tuple[str, ...]:
        """Base models that are trained, each once."""
        return ()

    def workload(self) -> RecipeWork | None:
        """Return what the estimate of memory and time counts; None where it is not known."""
        return None


_DEEPEST = 32
"""Maximum depth of nested tables, and of files that extend files."""


def recipe_data(
    paths: Path | Sequence[Path],
    changes: Mapping[str, object] | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    of_run: bool = False,
) -> dict[str, Any]:
    """Compose recipes, a later one over an earlier, and change settings: `{"sepo.exploitability_weight": "3"}`.

    `settings` are a recipe as tables of Python, over those of the files.

    A text is read as in a recipe; another value is taken as it is.

    A file may say `extends = ["a.toml", "b.toml"]`, by paths from its own or names of shipped recipes: what each sets
    takes the place of what the ones before it set, and its own settings the place of theirs.

    What the recipe names is asked for before anything is loaded. The configuration of a run, `of_run`, may be read for
    less than all that it names, so there the user is asked where it is used.
    """
    paths = [paths] if isinstance(paths, Path) else paths
    read: set[Path] = set()
    parts = {path: _data(path, (), read, of_run=of_run) for path in paths}
    _check_algorithm({**parts, Path("of Python"): settings or {}})
    data: dict[str, Any] = {}
    for part in parts.values():
        data = over(data, part)
    data = over(data, settings or {})
    for place, value in (changes or {}).items():
        _change(data, place, value)
    named = f"The recipe {' '.join(map(str, paths))}".rstrip()
    if not data:
        raise BadParameter(f"{named} has no settings: name at least a model and the games.")
    check_depth(data, named)
    if not of_run:
        settle(read)
    return data


def _check_algorithm(parts: Mapping[Path, Mapping[str, Any]]) -> None:
    """Refuse recipes of two algorithms."""
    named = [(path, part["algorithm"]) for path, part in parts.items() if "algorithm" in part]
    for path, name in named[1:]:
        if name != named[0][1]:
            raise BadParameter(
                f"The recipe {named[0][0]} is of the algorithm {named[0][1]}, and {path} of {name}: compose recipes of "
                "one algorithm."
            )


def _data(path: Path, below: tuple[Path, ...], read: set[Path], *, of_run: bool) -> dict[str, Any]:
    """The settings of a file and of those that it extends, whose Python files are looked up from its folder."""
    whole_path = _resolve_path(path)
    if whole_path in below:
        raise BadParameter(f"The recipe {path} extends itself.")
    if whole_path in read:
        raise BadParameter(
            f"The recipe {path} is read twice, and it is not plain whose settings hold: give or extend it once."
        )
    if len(below) > _DEEPEST:
        raise BadParameter(f"The recipe {path} is the end of more than {_DEEPEST} that extend one another.")
    read.add(whole_path)
    data = _toml(path)
    extended = data.pop("extends", [])
    if not isinstance(extended, list) or not all(isinstance(name, str) for name in extended):
        raise BadParameter(f'`extends` in {path} is a list of recipes, such as ["kuhn.toml"].')
    whole: dict[str, Any] = {}
    for name in extended:
        extended = recipe_path(name, path.parent)
        if not is_trusted(path) and not _resolve_path(extended).is_relative_to(whole_path.parent):
            check_read(extended)
        whole = over(whole, _data(extended, (*below, whole_path), read, of_run=of_run))
    note_named(path, texts_of(data), looks_there=not of_run)
    return over(whole, data)


def origin_of_table(table: str, path: Path) -> Path:
    """Return the file that has a table: a recipe itself, or one that it extends."""
    data = _toml(path)
    extended = [] if table in data else [recipe_path(name, path.parent) for name in data.get("extends", [])]
    return next((origin_of_table(table, each) for each in extended if table in recipe_data(each)), path)


def _resolve_path(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a link to itself, or a character that no path has
        raise BadParameter(f"The recipe {str(path)!r} cannot be read: {reason(error)}.") from error


def _toml(path: Path) -> dict[str, Any]:
    """A file's own settings."""
    if is_run(path):
        command = f"stratagem train {shlex.quote(str(path))} --resume"
        raise BadParameter(f"{path} is a run and no recipe: `{command}` continues it.")
    if os.path.isdir(path):  # noqa: PTH112 - it raises nothing, whatever the path
        raise BadParameter(f"{path} is a folder, and a recipe is a file: name one, or one of `stratagem recipes`.")
    try:
        data = tomllib.loads(read_small(path))
    except tomllib.TOMLDecodeError as error:
        raise BadParameter(f"The recipe {path} is no TOML: {error}.") from error
    except (OSError, ValueError) as error:
        raise BadParameter(f"The recipe {str(path)!r} cannot be read: {reason(error)}.") from error
    except RecursionError:
        raise BadParameter(f"The recipe {path} is nested too deep: at most {_DEEPEST} levels are read.") from None
    check_depth(data, f"The recipe {path}")
    if "hypothesis" in data:
        command = f"stratagem sweep {shlex.quote(str(path))}"
        raise BadParameter(f"{path} is a sweep and no recipe: `{command}` makes its runs.")
    return data


def check_depth(data: object, what: str) -> None:
    """Refuse tables and lists in one another beyond what anybody means."""
    level: list[object] = [data]
    for _ in range(_DEEPEST):
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [value for values in inner for value in values]
        if not level:
            return
    raise BadParameter(f"{what} is nested too deep: at most {_DEEPEST} levels are read.")


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two tables as one: tables in them are joined, other values of `above` take the place of those of `below`.

    A table of another `type` takes the place of the whole, since its parameters are others.
    """
    if "type" in above and above["type"] != below.get("type"):
        return dict(above)
    joined = dict(below)
    for name, value in above.items():
        inner = joined.get(name)
        joined[name] = over(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return joined


def _change(data: dict[str, object], place: str, value: object) -> None:
    """Set `a.b` to a TOML value, or to a text where it is none."""
    *tables, name = place.split(".")
    if len(tables) > _DEEPEST or not all((*tables, name)):
        raise BadParameter(f"{place[:100]} is no place of a setting: write it as sepo.exploitability_weight.")
    for table in tables:
        inner = data.setdefault(table, {})
        if not isinstance(inner, dict):
            raise BadParameter(f"{place} names a setting inside {table}, which is no table.")
        data = inner
    data[name] = _value(value) if isinstance(value, str) else value


def _value(text: str) -> object:
    try:
        read = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    except (RecursionError, ValueError):
        raise BadParameter(f"The value {text[:100]!r} cannot be read: write it as in a recipe.") from None
    return read["value"] if set(read) == {"value"} else text
