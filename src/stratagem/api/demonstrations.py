"""Demonstrations: `data` writes play of scripted players as data for SFT, in files that any trainer reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratagem.api.arguments import as_path, as_text, names_of
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import show_progress
from stratagem.api.result import Result
from stratagem.base.errors import StratagemError, UnknownName
from stratagem.base.files import telling, write_json
from stratagem.base.options import check_seed, within
from stratagem.games.base import Json
from stratagem.learn.demonstrations.files import PUBLISHED, DemonstrationPlan, write_sets
from stratagem.measure.figures.catalogue import figures_of
from stratagem.show.table import ResultTable, Value, text_table

ALGORITHMS = ("sepo",)
"""Algorithms with data sets of demonstrations."""

__all__ = ["Demonstrations", "data"]


@dataclass(frozen=True, repr=False)
class Demonstrations(Result):
    """Sets of demonstrations in a folder, by their manifest. It has counts alone, so there is no picture."""

    folder: Path
    manifest: Json
    """Contents of `manifest.json`: the sets with their games, and the files with their digests."""

    def rows(self) -> list[Json]:
        """Return one row for each game of each set."""
        return [{"set": name, "game": game, **row} for name, game, row in self._games()]

    def to_json(self) -> Json:
        """Return the manifest, as `stratagem data --json` prints it."""
        return self.manifest

    def tables(self) -> list[ResultTable]:
        title = f"{self.folder}   seed {self.manifest['seed']}, style {self.manifest['style']}"
        figures = figures_of("train", "held_out", "repeated", "episodes", "characters", "longest")
        rows = [(name, *_cells(game, row)) for name, game, row in self._games()]
        return [text_table(title, ("set", "game", *figures), rows)]

    def remarks(self) -> list[str]:
        """Return how to read the files."""
        return ["manifest.json lists the files with their digests."]

    def _games(self) -> list[tuple[str, str, Json]]:
        sets: dict[str, Any] = self.manifest["sets"]
        return [(name, game, row) for name, entry in sets.items() for game, row in entry["games"].items()]


def _cells(game: str, row: Json) -> tuple[Value, ...]:
    lengths, episodes = row["reply_characters"], row["episodes_per_opponent"] * len(row["opponents"])
    counts = row["train"], row["validation"], row["repeated"], episodes
    return game, *counts, float(lengths["median"]), lengths["longest"]


@one_sentence
def data(
    algorithm: str,
    out: str | Path,
    *,
    sets: str | Sequence[str] = (),
    seed: int = 42,
    style: str = "reasoned",
    scale: float = 1.0,
    progress: bool = True,
) -> Demonstrations:
    """Write demonstrations of scripted players, as data for SFT.

    Args:
        algorithm: Algorithm: sepo.
        out: New or empty folder for the sets.
        sets: Demonstration sets: multi, negotiation-v2, kuhn, ipd, auction, negotiation-v1; by default the first
            three, as published.
        seed: Seed of all randomness.
        style: Prompt style; one without reasoning has the action alone.
        scale: Size, as a multiple of the published size.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    if as_text(algorithm, "algorithm") not in ALGORITHMS:
        raise UnknownName("algorithm with data sets", algorithm, ALGORITHMS)
    check_seed(seed)
    within("data", "scale", scale, 0.0)
    words = as_text(style, "prompt style")
    plan = DemonstrationPlan(
        sets=tuple(names_of(sets, "demonstration set") or PUBLISHED), seed=seed, style=words, scale=scale
    )
    folder = as_path(out, "folder")
    _check_empty(folder)
    with show_progress(plan.total, shown=progress) as step, telling(folder):
        manifest = write_sets(plan, folder, step)
    write_json(manifest, folder / "manifest.json")
    return Demonstrations(folder, manifest)


def _check_empty(folder: Path) -> None:
    """Refuse a folder that is not empty: sets of two runs are not to be mixed."""
    try:
        if folder.exists() and any(folder.iterdir()):
            broken_off = "remove the sets that were broken off there, or " if any(folder.glob("*/*.partial")) else ""
            raise StratagemError(f"{folder} already holds files: {broken_off}choose another folder.")
    except OSError as error:
        raise StratagemError(f"{folder} cannot be used as a folder: {error.strerror}.") from error
