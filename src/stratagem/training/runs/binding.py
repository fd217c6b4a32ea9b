"""Binding of a run to its recipe: the digest of its resolved configuration is in `run.json` and in each checkpoint.

The digest is of what `config.toml` says, not of how it is written. So comments may be added, and a later version of the
program with more settings reads the same recipe.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

from stratagem import __version__
from stratagem.base.errors import BadRecord
from stratagem.base.provenance import provenance, source
from stratagem.base.settings import Settings
from stratagem.training.runs.config_file import recipe_digest, settings_digest
from stratagem.training.runs.folder import FORMAT, RELEASE, Rebinding, RunFolder
from stratagem.training.runs.source_files import changed_source_files

_HOW = "restore its config.toml, start again in another folder, or resume it with `force=True` to continue nevertheless"


_COMMIT = re.compile(r"[0-9a-f]{40}")


class ResumeWarning(UserWarning):
    """Warning about a resumed run that differs from the original one."""


def bound_digest(run: RunFolder) -> str:
    """Return the digest of the recipe that a run is bound to: the last, or the first."""
    info = run.info()
    return info.rebound[-1].recipe if info.rebound else info.recipe


def known_digests(run: RunFolder) -> set[str]:
    """Return the digests of all recipes that a run was bound to."""
    info = run.info()
    return {info.recipe, *(rebinding.recipe for rebinding in info.rebound)}


def check_recipe(run: RunFolder, recipe: Settings | None = None) -> None:
    """Refuse a configuration that differs from the run's own, in its folder or in the trainer.

    Runs of versions without digests are accepted.
    """
    if not is_bound(run):
        raise BadRecord(f"The run {run.path} was started with another recipe than its config.toml has now: {_HOW}.")
    if recipe is not None and settings_digest(run.config(type(recipe))) != settings_digest(recipe):
        raise BadRecord(f"The run {run.path} was started with another recipe: read the recipe from its folder.")


def is_bound(run: RunFolder) -> bool:
    """Return whether a run is bound to its present configuration.

    An upgrade that was killed may have noted the new configuration before the old one was replaced: both are the same
    recipe.
    """
    info = run.info()
    accepted = {bound_digest(run)}
    if info.rebound and info.rebound[-1].by == "upgrade":
        accepted.add(info.rebound[-1].was)
    return accepted == {""} or recipe_digest(run.config_data()) in accepted


def other_release(run: RunFolder) -> str:
    """Name the release that reads a run, as the end of a sentence; empty where that is this one."""
    info, now = run.info(), source()["commit"]
    made_by = info.made_by
    release, commit = str(made_by.get("stratagem", "")), made_by.get("commit")
    if (release, commit) == (__version__, now):
        return ""
    kept = f" with the files in format-{FORMAT - 1}" if any(one.by == "upgrade" for one in info.rebound) else ""
    at = f" at commit {commit[:12]}" if isinstance(commit, str) and _COMMIT.fullmatch(commit) else ""
    return (
        f"; Stratagem {release if RELEASE.fullmatch(release) else 'of its time'}{at} made this run, and reads it{kept}"
    )


def rebind(run: RunFolder, digest: str, step: int | None, by: Literal["force", "upgrade"]) -> None:
    """Bind a run to a configuration, from now on also in `run.json`, and give its folder the present format.

    `step` is that of the newest checkpoint; None where there is none, so that the run starts again.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    change = Rebinding(by=by, at=now, step=step, recipe=digest, was=bound_digest(run), commit=source()["commit"])
    info = run.info()
    run.save_info(info.model_copy(update={"format": FORMAT, "rebound": (*info.rebound, change)}))


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
