"""A run is bound to its recipe: the digest of its resolved configuration stands in `run.json` and in each checkpoint.

The digest is of what `config.toml` says, not of how it is written. So comments may be added, and a later version of the
program with more settings reads the same recipe.
"""

from __future__ import annotations

from datetime import UTC, datetime

from stratagem.errors import BadRecord
from stratagem.provenance import provenance, source
from stratagem.runs.config_file import recipe_digest, settings_digest
from stratagem.runs.folder import Forced, RunFolder
from stratagem.settings import Settings

_HOW = "put its config.toml back, begin anew in another folder, or add --force to go on all the same"


class ResumeWarning(UserWarning):
    """Something about a run that goes on is not as it was."""


def bound_digest(run: RunFolder) -> str:
    """The digest of the recipe that a run is bound to: the last that was forced, or the one that it began with."""
    info = run.info()
    return info.forced[-1].recipe if info.forced else info.recipe


def known_digests(run: RunFolder) -> set[str]:
    """The digests of all recipes that a run was bound to."""
    info = run.info()
    return {info.recipe, *(forced.recipe for forced in info.forced)}


def check_recipe(run: RunFolder, recipe: Settings | None = None) -> None:
    """Refuse a configuration that is not the run's, in its folder or in the hands of who trains.

    Runs from before there were digests are taken at their word.
    """
    bound = bound_digest(run)
    if bound and recipe_digest(run.config_data()) != bound:
        raise BadRecord(f"The run {run.path} was begun with another recipe than its config.toml has now: {_HOW}.")
    if recipe is not None and settings_digest(run.config(type(recipe))) != settings_digest(recipe):
        raise BadRecord(f"The run {run.path} was begun with another recipe than the one to train by: read its own.")


def force(run: RunFolder, step: int | None) -> None:
    """Bind a run to the configuration that it has now; `run.json` says so from then on.

    `step` is that of the checkpoint from which it goes on; None where it begins again.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    digest, commit = recipe_digest(run.config_data()), source()["commit"]
    forced = Forced(at=now, step=step, recipe=digest, was=bound_digest(run), commit=commit)
    info = run.info()
    run.say_info(info.model_copy(update={"forced": (*info.forced, forced)}))


def changes(run: RunFolder) -> list[str]:
    """Sentences on what made the run and is not what goes on with it; each may change its figures."""
    info, now, torch = run.info(), source(), provenance()["packages"].get("torch")
    said = []
    if info.commit != now["commit"]:
        before, after = _short(info.commit), _short(now["commit"])
        said.append(f"The run {run.path} was begun by commit {before} and goes on by {after}.")
    if (begun := info.made_by.get("packages", {}).get("torch")) != torch:
        said.append(f"The run {run.path} was begun with torch {begun} and goes on with {torch}.")
    return said


def _short(commit: str | None) -> str:
    return "none that is known" if commit is None else commit[:12]
