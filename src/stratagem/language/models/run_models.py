"""Models of a run by label: base, start of training, best, last, and each saved step.

The run says it in a file whose folders are relative to its own, so it may be moved. It may also come from a stranger:
what lies outside of it is not opened at its word, and nobody is asked over a network but the Hub.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import Field

from stratagem import __version__
from stratagem.base.errors import BadParameter
from stratagem.base.files import write_file
from stratagem.base.settings import Settings
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.folder import read_json
from stratagem.language.models.reference import LABEL, AdapterRef, BadModel, ModelRef, adapter_at, parse_model

PACKAGE = "stratagem_zoo"
INSTALL = "pip install ./zoo installs it from a checkout"
_MODELS = "models.json"


DEMO = Path(__file__).parents[2] / "demo"
"""Folder with the run that ships with this package."""


def zoo_models() -> dict[str, Path]:
    """Return the folders of the installed models by name: the demo's, and those of the package with the others."""
    spec = find_spec(PACKAGE)
    folders = [DEMO, *map(Path, (spec.submodule_search_locations or ()) if spec else ())]
    return {path.parent.name: path.parent for folder in folders for path in sorted(folder.glob(f"*/{_MODELS}"))}


def zoo_folder(name: str) -> Path:
    """Return the folder of a model."""
    models = zoo_models()
    if name in models:
        return models[name]
    more = (
        ""
        if find_spec(PACKAGE)
        else f"; the others come in the package stratagem-zoo, which is not installed: {INSTALL}"
    )
    raise BadModel(f"The zoo has no model {name!r}: it has {', '.join(models)}{more}.")


FILE = "models.json"
BEST = "best"
_TEMPLATE = "template:"
"""Beginning of a style that is a text file; a run keeps a copy of it in its folder `files`."""
_MOVING = (BEST, "last")
_ON_DISK = ("dir", "gguf")
_CLOSED = ("run", "zoo", "api")


class RunModel(Settings):
    """One model: a base, perhaps with an adapter."""

    model: str
    """Base as a text; a `dir:` or `gguf:` without its whole path is in the run's folder."""
    adapter: str | None = None
    """Folder of a LoRA adapter on it, in the run's folder."""
    speaks: DecodingSettings | None = None
    """Decoding settings of this model, where they differ from those of the run."""


class RunModels(Settings):
    """Models of a run."""

    version: Literal[1] = 1
    models: dict[Annotated[str, Field(pattern=f"^{LABEL.pattern}$")], RunModel]
    """Models by label: base, start, best, last, or a step.

    Where several seats were trained, with the seat, as best/shaper.
    """
    speaks: DecodingSettings = DecodingSettings()
    titles: dict[str, str] = Field(default={})
    """Names of models in tables, by label, as `BC + KTO`; empty where a name follows from algorithm and step."""


def write_run_models(folder: Path, models: RunModels) -> None:
    """Write the models of a run, in place of the earlier file."""
    write_file(folder / FILE, models.model_dump_json(indent=2) + "\n")


def read_run_models(folder: Path) -> RunModels:
    """Read the models of the run in a folder."""
    if not (folder / FILE).is_file() and (run := next((up for up in folder.parents if (up / FILE).is_file()), None)):
        known = _labels(read_run_models(run))
        raise BadModel(f"{str(folder)!r} is within a run: say run:{run}, or run:{run}@LABEL; its labels are {known}.")
    if not folder.is_dir():
        raise BadModel(f"There is no run at {str(folder)!r}: {_hint(folder)}.")
    if not (folder / FILE).is_file():
        raise BadModel(f"{str(folder)!r} has no {FILE}: it is no run, or its first checkpoint is not written yet.")
    data = read_json(folder / FILE)
    _check_version(data, folder / FILE)
    try:
        return RunModels.read_old(data)
    except BadParameter as error:
        message = "".join(letter if letter.isprintable() else "?" for letter in str(error))
        raise BadModel(f"The file {str(folder / FILE)!r} is damaged: {message}") from error


def _check_version(data: Mapping[str, Any], path: Path) -> None:
    """Refuse a list that a later release has written."""
    known = RunModels.model_fields["version"].default
    if isinstance(version := data.get("version"), int) and version > known:
        raise BadModel(
            f"{str(path)!r} has version {version}, which a later release of Stratagem reads: this is Stratagem "
            f"{__version__}, and it reads version {known}."
        )


def resolve_model(ref: ModelRef) -> ModelRef:
    """Resolve a run's label to a model named without the run; other models stay as they are."""
    if (folder := _run_folder(ref)) is None:
        return ref
    run = read_run_models(folder)
    label = _label(folder, run, ref.revision)
    entry = _find_model(folder, label, run.models[label])
    return replace(entry, four_bit=ref.four_bit or entry.four_bit, dtype=ref.dtype or entry.dtype)


def _run_folder(ref: ModelRef) -> Path | None:
    """Return the folder with the models of a run or of a model of the zoo; None for other models."""
    if ref.kind == "zoo":
        return zoo_folder(ref.where)
    return Path(ref.where).expanduser() if ref.kind == "run" else None


def pin_label(text: str) -> str:
    """Replace a label that may change, such as best or last, by the label of a step."""
    ref = parse_model(text)
    if (folder := _run_folder(ref)) is None:
        return text
    run = read_run_models(folder)
    label = _label(folder, run, ref.revision)
    stage, _, seat = label.partition("/")
    if stage not in _MOVING:
        return str(replace(ref, revision=label))
    alike = [other for other, model in run.models.items() if model == run.models[label]]
    fixed = [other for other in alike if other.partition("/")[0] not in _MOVING]
    fixed.sort(key=lambda other: (other.partition("/")[2] != seat, not other[0].isdecimal()))
    return str(replace(ref, revision=[*fixed, label][0]))


def decoding_options(text: str) -> dict[str, Any]:
    """Return the style, mode and sampling of a run's models, as options of a player; empty for other models."""
    ref = parse_model(text)
    if (folder := _run_folder(ref)) is None:
        return {}
    run = read_run_models(folder)
    model = run.models.get(ref.revision or BEST)
    speaks = ((model and model.speaks) or run.speaks).model_dump()
    if speaks["style"].startswith(_TEMPLATE):  # of the run's own files, whatever path the run names
        speaks["style"] = f"{_TEMPLATE}{folder / 'files' / Path(speaks['style'].removeprefix(_TEMPLATE)).name}"
    return speaks


def outside(text: str) -> str:
    """Name a model outside the run as `RunModel.model` takes it: with its whole path."""
    ref = resolve_model(parse_model(text))
    adapters = tuple(replace(part, path=_whole(part.path)) for part in ref.adapters)
    return str(replace(ref, where=_whole(ref.where) if ref.kind in _ON_DISK else ref.where, adapters=adapters))


def own_text(folder: Path, label: str) -> str:
    """Name a model of a run in its own program: by the run, or in full where the base lies elsewhere.

    A text that names the run would be refused there, since whoever reads it cannot know who wrote the run.
    """
    model = read_run_models(folder).models[label]
    base = parse_model(model.model)
    if base.kind not in _ON_DISK or _within(folder, base.where):
        return str(ModelRef("run", str(folder), revision=label))
    return str(replace(base, adapters=_adapters(folder, model)))


def own_name(label: str) -> str:
    """Name a model of a run in the run's own files, `run:.@LABEL`: it does not depend on the run's path."""
    return str(ModelRef("run", ".", revision=label))


def _whole(path: str) -> str:
    return str(Path(path).expanduser().absolute())


def _hint(folder: Path) -> str:
    """Suggest a correction where no run is named, such as a label."""
    path, at, label = str(folder).rpartition("@")
    if at and (Path(path) / FILE).is_file():
        hint = ", with options as in lm(run:PATH@LABEL, mode=free)" if "(" in label else ""
        return f"the models of {path!r} are {_labels(read_run_models(Path(path)))}{hint}"
    return "run:PATH takes the folder of a run, as in run:runs/NAME or run:runs/NAME@last"


def _labels(run: RunModels) -> str:
    return ", ".join(run.models) or "none yet"


def _label(folder: Path, run: RunModels, asked: str | None) -> str:
    """Resolve the requested label; without one the best, and never another in its place."""
    if not run.models:
        raise BadModel(f"The run {str(folder)!r} has no models: there are none yet, or its learners are no models.")
    if (label := asked or BEST) in run.models:
        return label
    lacks = f"has no model called {label}" if asked else "has marked none of its models as the best"
    raise BadModel(f"The run {str(folder)!r} {lacks}: say run:PATH@LABEL with one of its labels, {_labels(run)}.")


def _find_model(folder: Path, label: str, model: RunModel) -> ModelRef:
    """Find a model of a run; a path outside the run, or a missing file, is refused."""
    try:
        base = parse_model(model.model)
    except BadModel:
        _refuse(folder, label, model.model, "which names no model")
    if base.kind in _CLOSED or base.adapters:
        _refuse(folder, label, model.model, "which is no base with weights of its own")
    if model.adapter is not None and not _within(folder, model.adapter):
        _refuse(folder, label, model.adapter, "which is not inside of it and is not opened at its word")
    adapters = _adapters(folder, model)
    if base.kind not in _ON_DISK:
        return replace(base, adapters=adapters)
    if not _within(folder, base.where):
        text = str(replace(base, adapters=adapters))
        _refuse(folder, label, model.model, f"which is not inside of it: if you trust it, say {text!r} yourself")
    return replace(base, where=str(folder / base.where), adapters=adapters)


def _adapters(folder: Path, model: RunModel) -> tuple[AdapterRef, ...]:
    return () if model.adapter is None else (adapter_at(str(folder / model.adapter)),)


def _within(folder: Path, path: str) -> bool:
    """Return whether a path can only lead to somewhere in the run's folder, links included."""
    if not path.isprintable() or Path(path).is_absolute():
        return False
    if any(part == ".." or part.startswith("~") for part in Path(path).parts):
        return False
    try:
        (folder / path).exists()  # which complains of a name that is too long, as resolving does of links in a circle
        return (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return False


def _refuse(folder: Path, label: str, named: str, why: str) -> NoReturn:
    raise BadModel(f"The run {str(folder)!r} says that its model {label} is {named!r}, {why}.")
