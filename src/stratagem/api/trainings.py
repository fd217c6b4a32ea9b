"""Training: `train` makes a run by one or more recipes, and returns it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from stratagem.api.arguments import as_changes, as_path, names_of, several
from stratagem.api.devices import check_devices, is_rank, sharing_ranks, train_on_devices
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import bar
from stratagem.api.runs import Run
from stratagem.api.serving import serving
from stratagem.base.consent.needs import texts_of
from stratagem.base.consent.table import allow_named, reading_files
from stratagem.base.errors import BadParameter, WrongKind
from stratagem.base.files import telling_below
from stratagem.playing.workers.plan import current
from stratagem.show.console import VisibleConsole
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.resume import resume_by_force
from stratagem.training.runs.trackers.base import tracking
from stratagem.training.runs.trackers.catalogue import make_trackers
from stratagem.training.shipped import check_part, recipe_path
from stratagem.training.stage import Progress

if TYPE_CHECKING:
    from stratagem.training.recipe_file import AnyRecipe

RUNS = Path("runs")
"""Folder of runs without a folder of their own."""
RecipeLike: TypeAlias = "str | Path | Mapping[str, Any] | AnyRecipe"
"""A recipe: its path, its name among the shipped ones, or its settings as tables or as an object."""
_SHOWN = ("loss", "payoff", "exploitability", "checkpoint_metric")
"""Metrics of the progress bar, by the last part of their names."""

__all__ = ["RecipeLike", "read_recipe", "train"]


@one_sentence
def train(
    recipes: RecipeLike | Sequence[RecipeLike] | Run,
    *,
    changes: Mapping[str, object] | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    strict: bool = False,
    force: bool = False,
    devices: int | None = None,
    workers: int | None = None,
    ray: str | None = None,
    track: str | Sequence[str] = (),
    allow: str | Sequence[str] = (),
    command: str = "stratagem.train from Python",
    progress: bool = True,
) -> Run:
    """Train a model by one or more recipes; continue a stopped run with `resume=True`.

    Args:
        recipes: Recipes, by path or by a name of `stratagem recipes`; a later one overrides an earlier one. The last
            may be a dictionary: `["sepo/kuhn-tiny", {"sepo": {"iterations": 5}}]`. With `resume=True`, the folder
            of a run.
        changes: Settings to change by their places, such as sepo.exploitability_weight=3.
        out: New folder of the run; by default runs/NAMES-SEED.
        resume: True to continue a stopped run.
        strict: True to stop at the first fault that a check of training finds.
        force: With `resume=True`: accept a changed recipe, or start again if all checkpoints are missing.
        devices: Number of GPUs, or of processes without one, that share the learning and the play: all weights are
            sharded over them, and packs of examples are divided.
        workers: Number of processes that share the work; with `ray=`, of workers on the cluster.
        ray: Ray cluster for the work: its address, `auto`, or `local` for a new one here.
        track: Services that get the metrics, too: wandb or trackio, as in `wandb(project=NAME)`.
        allow: Single things that a recipe may use although its folder is not trusted: a Python file, a command
            `cmd:...`, or a server as HOST or HOST:PORT.
        command: Command that the run notes.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    given = dict(locals())
    trackers, reading = make_trackers(names_of(track, "tracker")), reading_files(*names_of(allow, "permission"))
    if devices is not None and not is_rank():
        check_devices(devices)
        if devices > 1:
            if workers is not None or ray is not None:
                raise BadParameter("Devices share play and learning already: leave `workers=` and `ray=` out.")
            return Run(RunFolder.open(train_on_devices(devices, train, given)))
    with sharing_ranks(workers, ray), reading, serving(None, workers, ray), tracking(trackers):
        if force and not resume:
            raise BadParameter("`force=True` continues a started run: add `resume=True`.")
        if resume:
            if out is not None:
                raise BadParameter("A run continues with its own folder: leave `out=` out.")
            run, recipe = _stopped_run(several(recipes, "recipe"), changes, force=force)
        else:
            names, recipe = _named_settings(several(recipes, "recipe"), as_changes(changes))
            folder = RUNS / "-".join([*names, str(recipe.seed)]) if out is None else as_path(out, "run")
            run, recipe = _new_run(folder, recipe, command, shown=progress)
        _train(run, recipe, strict=strict, shown=progress)
        return Run(run)


def read_recipe(recipes: RecipeLike | Sequence[RecipeLike], changes: Mapping[str, object] | None = None) -> AnyRecipe:
    """Read the settings of one or more recipes."""
    return _named_settings(several(recipes, "recipe"), as_changes(changes))[1]


def _named_settings(recipes: Sequence[object], changes: Mapping[str, object]) -> tuple[list[str], AnyRecipe]:
    """Return the settings of recipes, with their names."""
    from stratagem.training.recipe_file import AnyRecipe

    allow_named(texts_of(dict(changes)))
    if len(recipes) == 1 and isinstance(recipes[0], AnyRecipe):
        allow_named(texts_of(recipes[0].model_dump(mode="json")))
        if changes:
            raise BadParameter("A recipe that is an object is used as it is: leave the changes out.")
        return [str(getattr(recipes[0], "algorithm", "recipe"))], recipes[0]
    *others, last = recipes
    settings = dict(last) if isinstance(last, Mapping) else {}
    files = others if isinstance(last, Mapping) else recipes
    for recipe in files:
        if not isinstance(recipe, str | Path):
            wanted = "a path or the name of a shipped one, with a dictionary as the last, or one object alone"
            raise WrongKind("recipe", wanted, recipe)
    allow_named(texts_of(settings))
    paths = [recipe_path(str(recipe)) for recipe in (*files, *_extended_by(settings))]
    from stratagem.algorithms.catalogue import read_any  # loads torch, so only for recipes that there are

    try:
        return [path.stem for path in paths] or ["recipe"], read_any(paths, changes, settings=settings)
    except BadParameter as error:
        if changes:  # a wrong change is told as it is where the recipes can be read without it
            _named_settings(recipes, {})
            raise
        check_part(paths, error)
        raise


def _extended_by(settings: dict[str, Any]) -> list[str]:
    """Take the recipes that a dictionary extends out of it."""
    extended = settings.pop("extends", [])
    if not isinstance(extended, list) or not all(isinstance(name, str) for name in extended):
        raise BadParameter('`extends` is a list of recipes, such as ["sepo/kuhn-tiny"].')
    return extended


def _stopped_run(
    given: Sequence[object], changes: Mapping[str, object] | None, *, force: bool
) -> tuple[RunFolder, AnyRecipe]:
    """Return the run to continue, and its recipe."""
    from stratagem.algorithms.catalogue import recipe_of

    if changes:
        raise BadParameter("A run continues with its own settings: leave `changes=` out.")
    if len(given) > 1:
        raise BadParameter("A run continues with its own recipe: give its folder alone.")
    first = given[0]
    hint = ", and a stopped run goes on from its folder, as in runs/NAME, without a recipe"
    run = first.folder if isinstance(first, Run) else RunFolder.open(as_path(first, "run"), hint)
    if force:
        resume_by_force(run)
    return run, recipe_of(run)


def _new_run(folder: Path, recipe: AnyRecipe, command: str, *, shown: bool) -> tuple[RunFolder, AnyRecipe]:
    """Make the folder of a run, and return it with its recipe, in which the machine's choices are settled.

    A recipe that cannot be trained is refused before the folder exists.
    """
    from stratagem.algorithms.catalogue import check_new
    from stratagem.algorithms.machine_choices import settle_here

    check_new(recipe, RunFolder(folder))
    current().workers.reach()
    recipe, choices = settle_here(recipe)
    for choice in choices if shown else ():
        VisibleConsole(stderr=True).print(choice, highlight=False, soft_wrap=True)
    return RunFolder.create(folder, recipe, recipe.seed, command), recipe


def _train(run: RunFolder, recipe: AnyRecipe, *, strict: bool, shown: bool) -> None:
    """Train under a progress bar."""
    from stratagem.algorithms.catalogue import bound

    with telling_below(run.path), _shown_progress(run.name, shown) as show:
        try:
            bound(recipe, run, strict=strict).train(show)
        except KeyboardInterrupt as stop:
            stop.add_note(f"Continue with: stratagem train {shlex.quote(str(run.path))} --resume")
            raise


@contextmanager
def _shown_progress(name: str, shown: bool) -> Iterator[Progress]:
    with bar(name, shown=shown, remaining=True) as show:

        def progress(step: int, steps: int, figures: Mapping[str, float]) -> None:
            texts = ", ".join(f"{metric} {value:.3f}" for metric, value in _choose_metrics(figures).items())
            show(step, steps, f"{name}: {texts}")

        yield progress


def _choose_metrics(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics of the progress bar; where several share a last part, with their full names."""
    parts = [(name, name.rpartition("/")[2], value) for name, value in figures.items()]
    counts = Counter(last for _, last, _ in parts)
    chosen = [(last if counts[last] == 1 else name, last, value) for name, last, value in parts if last in _SHOWN]
    return {name: value for name, last, value in sorted(chosen, key=lambda entry: _SHOWN.index(entry[1]))}
