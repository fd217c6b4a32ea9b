"""Upgrade of a run: its files get the keys and the format of this release, where nothing is lost.

The old files are kept in the folder `format-1` of the run. The order of writing is: the old files, the models, the
binding in `run.json`, the configuration. A run whose upgrade was killed is read all the same, and a repeated upgrade
completes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stratagem.algorithms.catalogue import recipe_of, upgrade_data
from stratagem.base.files import write_file
from stratagem.language.models.run_models import FILE, read_run_models, write_run_models
from stratagem.training.runs.binding import bound_digest, rebind
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.config_file import recipe_digest, settings_toml
from stratagem.training.runs.folder import FORMAT, RunFolder

_CONFIG = "config.toml"
_KEPT = {_CONFIG: _CONFIG, FILE: FILE, "run.json": "run-info.json"}
"""Files that change, each with the name of its copy; a folder with a `run.json` would be a run."""


@dataclass(frozen=True)
class RunUpgrade:
    """Outcome of an upgrade."""

    renamed: Mapping[str, str]
    """Old keys of the configuration, each with what is written now."""
    kept: Path | None
    """Folder with the old files; None where the run was of this release already."""


def upgrade_run(run: RunFolder) -> RunUpgrade:
    """Upgrade a run that no process works on; where something would be lost, nothing is changed."""
    with run.hold_folder():
        recipe, (_, found) = recipe_of(run), upgrade_data(run.config_data())
        text = settings_toml(recipe) if found.renamed else None
        if run.info().format == FORMAT and text is None:
            return RunUpgrade({}, None)
        kept = run.path / f"format-{_old_format(run)}"
        _keep(run, kept)
        _write(run, text)
        return RunUpgrade(found.renamed, kept)


def _old_format(run: RunFolder) -> int:
    """Return the format before the upgrade, which a killed one may have noted already."""
    return min(run.info().format, FORMAT - 1)


def _keep(run: RunFolder, folder: Path) -> None:
    """Copy the files that change; a copy that is there is of an upgrade that was killed, and stays."""
    folder.mkdir(exist_ok=True)
    for name, copy in _KEPT.items():
        if (run.path / name).is_file() and not (folder / copy).exists():
            write_file(folder / copy, (run.path / name).read_text(encoding="utf-8"))


def _write(run: RunFolder, text: str | None) -> None:
    """Bind the run to its new configuration, and write that; without one, give the folder its format alone."""
    if (run.path / FILE).is_file():
        write_run_models(run.path, read_run_models(run.path))
    if text is None:
        run.save_info(run.info().model_copy(update={"format": FORMAT}))
        return
    if (digest := recipe_digest(tomllib.loads(text))) != bound_digest(run):
        there = latest(run, digests=False)
        rebind(run, digest, None if there is None else there.step, "upgrade")
    write_file(run.path / _CONFIG, text)
