"""Binding of a run to its recipe: the digest of its resolved configuration is in `run.json` and in each checkpoint.

The digest is of what `config.toml` says, not of how it is written. So comments may be added, and a later version of the
program with more settings reads the same recipe.
"""

from __future__ import annotations

from datetime import UTC, datetime

from stratagem.errors import BadRecord
from stratagem.provenance import provenance, source
from stratagem.runs.config_file import recipe_digest, settings_digest
from stratagem.runs.folder import Forced, RunFolder
from stratagem.runs.source_files import changed_source_files
from stratagem.settings import Settings

_HOW = "restore its config.toml, start again in another folder, or add `force=True` to continue nevertheless"


class ResumeWarning(UserWarning):
    """Warning about a resumed run that differs from the original one."""


def bound_digest(run: RunFolder) -> str:
    """Return the digest of the recipe that a run is bound to: the last that was forced, or the first."""
    info = run.info()
    return info.forced[-1].recipe if info.forced else info.recipe


def known_digests(run: RunFolder) -> set[str]:
    """Return the digests of all recipes that a run was bound to."""
    info = run.info()
    return {info.recipe, *(forced.recipe for forced in info.forced)}


def check_recipe(run: RunFolder, recipe: Settings | None = None) -> None:
    """Refuse a configuration that differs from the run's own, in its folder or in the trainer.

    Runs of versions without digests are accepted.
    """
    bound = bound_digest(run)
    if bound and recipe_digest(run.config_data()) != bound:
        raise BadRecord(f"The run {run.path} was started with another recipe than its config.toml has now: {_HOW}.")
    if recipe is not None and settings_digest(run.config(type(recipe))) != settings_digest(recipe):
        raise BadRecord(f"The run {run.path} was started with another recipe: read the recipe from its folder.")


def force(run: RunFolder, step: int | None) -> None:
    """Bind a run to its present configuration, from now on also in `run.json`.

    `step` is that of the checkpoint to resume from; None where the run starts again.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    digest, commit = recipe_digest(run.config_data()), source()["commit"]
    forced = Forced(at=now, step=step, recipe=digest, was=bound_digest(run), commit=commit)
    info = run.info()
    run.save_info(info.model_copy(update={"forced": (*info.forced, forced)}))


def changes(run: RunFolder) -> list[str]:
    """Describe the changes between the run and its continuation; each may change its figures."""
    info, now, torch = run.info(), source(), provenance()["packages"].get("torch")
    sentences = []
    if info.commit != now["commit"]:
        before, after = _short(info.commit), _short(now["commit"])
        sentences.append(f"The run {run.path} was started by commit {before} and continues by commit {after}.")
    if (begun := info.made_by.get("packages", {}).get("torch")) != torch:
        sentences.append(f"The run {run.path} was started with torch {begun} and continues with torch {torch}.")
    sentences += [f"{name} has changed since the run {run.path} began." for name in changed_source_files(info.files)]
    return sentences


def _short(commit: str | None) -> str:
    return "unknown" if commit is None else commit[:12]
