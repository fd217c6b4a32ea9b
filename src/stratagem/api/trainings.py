"""Training: `train` makes a run by one or more recipes, and returns it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from stratagem.api.arguments import as_changes, as_path, names_of, several
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import bar
from stratagem.api.runs import Run
from stratagem.api.serving import serving
from stratagem.consent.needs import texts_of
from stratagem.consent.table import allow_named, reading_files
from stratagem.errors import BadParameter, WrongKind
from stratagem.files import telling_below
from stratagem.runs.folder import RunFolder
from stratagem.runs.resume import resume_by_force
from stratagem.runs.trackers.base import tracking
from stratagem.runs.trackers.catalogue import make_trackers
from stratagem.training.shipped import check_part, recipe_path
from stratagem.training.stage import Progress
from stratagem.workers.plan import current

if TYPE_CHECKING:
    from stratagem.training.recipe_file import AnyRecipe

RUNS = Path("runs")
"""Folder of runs without a folder of their own."""
RecipeLike: TypeAlias = "str | Path | AnyRecipe"
"""A recipe: its path, its name among the shipped ones, or its settings as an object."""
_SHOWN = ("loss", "pay", "exploitability", "checkpoint_metric")
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
    workers: int | None = None,
    ray: str | None = None,
    track: str | Sequence[str] = (),
    allow: str | Sequence[str] = (),
    command: str = "stratagem.train from Python",
    progress: bool = True,
) -> Run:
    """Train a model by one or more recipes, of which a later one overrides an earlier one.

    `changes` are settings by their places: `{"sepo.iterations": 3}`. `out` is the new folder of the run, by default
    runs/NAMES-SEED. With `resume` a stopped run continues, by its folder or as a `Run`; `force` accepts a changed
    recipe, or starts again if all checkpoints are missing. `strict` stops at the first fault that a check of training
    finds. `track` names services that get the metrics, too: `wandb`, `trackio`, or `wandb(project=NAME)`. `allow`
    are single things that the recipe may use although its folder is not trusted: a Python file, a command `cmd:...`, or
    a server as HOST or HOST:PORT. The run notes `command`.
    """
    trackers, reading = make_trackers(names_of(track, "tracker")), reading_files(*names_of(allow, "permission"))
    with reading, serving(None, workers, ray), tracking(trackers):
        if force and not resume:
            raise BadParameter("`force=True` continues a started run: add `resume=True`.")
        if resume:
            if out is not None:
                raise BadParameter("A run continues with its own folder: leave `out=` out.")
            run, recipe = _stopped_run(several(recipes, "recipe"), changes, force=force)
        else:
            names, recipe = _named(several(recipes, "recipe"), as_changes(changes))
            folder = RUNS / "-".join([*names, str(recipe.seed)]) if out is None else as_path(out, "run")
            run, recipe = _new_run(folder, recipe, command)
        _train(run, recipe, strict=strict, shown=progress)
        return Run(run)


def read_recipe(recipes: RecipeLike | Sequence[RecipeLike], changes: Mapping[str, object] | None = None) -> AnyRecipe:
    """Read the settings of one or more recipes."""
    return _named(several(recipes, "recipe"), as_changes(changes))[1]


def _named(recipes: Sequence[object], changes: Mapping[str, object]) -> tuple[list[str], AnyRecipe]:
    """Return the settings of recipes, with their names."""
    from stratagem.training.recipe_file import AnyRecipe

    allow_named(texts_of(dict(changes)))
    if len(recipes) == 1 and isinstance(recipes[0], AnyRecipe):
        allow_named(texts_of(recipes[0].model_dump(mode="json")))
        if changes:
            raise BadParameter("A recipe that is an object is used as it is: leave the changes out.")
        return [str(getattr(recipes[0], "algorithm", "recipe"))], recipes[0]
    for recipe in recipes:
        if not isinstance(recipe, str | Path):
            raise WrongKind("recipe", "a path or the name of a shipped one, or one object alone", recipe)
    paths = [recipe_path(str(recipe)) for recipe in recipes]
    from stratagem.algorithms.catalogue import read_any  # loads torch, so only for recipes that there are

    try:
        return [path.stem for path in paths], read_any(paths, changes)
    except BadParameter as error:
        if changes:  # a wrong change is told as it is where the recipes can be read without it
            _named(recipes, {})
            raise
        check_part(paths, error)
        raise


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


def _new_run(folder: Path, recipe: AnyRecipe, command: str) -> tuple[RunFolder, AnyRecipe]:
    """Make the folder of a run, and return it with its recipe, in which gradient checkpointing is settled.

    A recipe that cannot be trained is refused before the folder exists.
    """
    from stratagem.algorithms.catalogue import check_new
    from stratagem.algorithms.checkpointing import settled_here

    check_new(recipe, RunFolder(folder))
    current().workers.reach()
    recipe = settled_here(recipe)
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
            texts = ", ".join(f"{metric} {value:.3f}" for metric, value in _chosen(figures).items())
            show(step, steps, f"{name}: {texts}")

        yield progress


def _chosen(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics of the progress bar; where several share a last part, with their full names."""
    parts = [(name, name.rpartition("/")[2], value) for name, value in figures.items()]
    counts = Counter(last for _, last, _ in parts)
    chosen = [(last if counts[last] == 1 else name, last, value) for name, last, value in parts if last in _SHOWN]
    return {name: value for name, last, value in sorted(chosen, key=lambda entry: _SHOWN.index(entry[1]))}
