"""Planned run: the recipes and changed settings of one training, and the name of its folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stratagem.algorithms.catalogue import check_new, read_any, recipe_of
from stratagem.algorithms.machine_choices import keep_choices_of
from stratagem.base.errors import StratagemError
from stratagem.training.recipe_file import AnyRecipe
from stratagem.training.runs.folder import RunFolder
from stratagem.training.shipped import name_of


@dataclass(frozen=True)
class PlannedRun:
    """Planned run of a sweep or of an experiment."""

    name: str
    """Name of the run's folder."""
    recipes: tuple[Path, ...]
    """Recipes that are composed, a later one over an earlier."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Changed settings, as `stratagem train --set` takes them."""
    first: bool = False
    """True if it is finished before any later run is planned, such as the SFT that they start from."""

    def recipe(self) -> AnyRecipe:
        """Compose the recipe."""
        return read_any(self.recipes, self.changes)

    def command(self, folder: Path) -> str:
        """Return the command that makes this run alone."""
        settings = [word for key, value in self.changes.items() for word in ("--set", f"{key}={value}")]
        recipes = map(name_of, self.recipes)
        return shlex.join(["stratagem", "train", *recipes, "--out", str(folder / self.name), *settings])

    def existing(self, folder: Path) -> RunFolder | None:
        """Return the run in a folder; None where it is not begun."""
        path = folder / self.name
        return RunFolder.open(path) if (path / "run.json").is_file() else None

    def is_finished(self, folder: Path) -> bool:
        """Test whether the run in a folder is finished."""
        run = self.existing(folder)
        return run is not None and run.status().state == "finished"

    def check_trainable(self) -> None:
        """Refuse settings that cannot be trained before anything is."""
        check_new(self.recipe(), RunFolder(Path(self.name)))

    def check_settings(self, folder: Path) -> None:
        """Refuse an existing run that was begun with other settings."""
        recipe, run = self.recipe(), self.existing(folder)
        if run is not None and (own := recipe_of(run)) != keep_choices_of(recipe, own):
            raise StratagemError(
                f"The run {self.name} was begun with other settings than the plan or its recipe has now: change them "
                "back, or start again in another folder."
            )
