"""Steps: `steps` estimates the value of each step of recorded games, as a table for a recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import as_path, as_text, names_of, new_file, several
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import show_progress
from stratagem.api.records import Record
from stratagem.api.result import Result
from stratagem.games.base import Json
from stratagem.measure.figures.catalogue import figures_of
from stratagem.show.table import ResultTable, text_table

if TYPE_CHECKING:
    from stratagem.algorithms.scopal.steps import Steps

STEP_REWARD = "step_win_rate"

__all__ = ["StepTable", "steps"]


@dataclass(frozen=True, repr=False)
class StepTable(Result):
    """Estimated values of steps, and how many there are by game. It has counts alone, so there is no picture."""

    steps: Steps
    """Table of all steps; `steps.rows` is a table of Arrow."""
    summary: Json
    """Counts of each game, and of all games together."""
    file: Path | None = None

    def rows(self) -> list[Json]:
        """Return one row for each game, and one for all."""
        return [{"game": game, **figures} for game, figures in self._games()]

    def to_json(self) -> Json:
        """Return the counts, as `stratagem steps --json` prints them."""
        return self.summary

    def tables(self) -> list[ResultTable]:
        figures = figures_of("samples", "valid", "rows", "unique_actions", "advantageous", "ratio")
        rows = [(game, *(counts[figure.key] for figure in figures)) for game, counts in self._games()]
        return [text_table(str(self.file or "Steps"), ("game", *figures), rows)]

    def forms(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writer of the steps as Parquet, as a recipe reads them, `.parquet`."""
        from stratagem.algorithms.scopal.steps import write_steps

        return {".parquet": lambda path: write_steps(self.steps, path)}

    def _games(self) -> list[tuple[str, Json]]:
        return [*self.summary["games"].items(), ("all", self.summary["all"])]


@one_sentence
def steps(
    records: str | Path | Record | Sequence[str | Path | Record],
    out: str | Path | None = None,
    *,
    step_reward: str = STEP_REWARD,
    players: str | Sequence[str] = (),
    progress: bool = True,
) -> StepTable:
    """Estimate the value of each step of recorded games.

    Args:
        records: Folders of recorded games, as `record=` writes them.
        out: New Parquet file for the table.
        step_reward: Advantage estimator of the steps: step_win_rate, discounted, beta ...
        players: Players whose decisions count, by their names in the record; by default that of slot 0.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    folders = [one.folder if isinstance(one, Record) else as_path(one, "record") for one in several(records, "record")]
    file = None if out is None else new_file(out)
    named = as_text(step_reward, "advantage estimator")
    from stratagem.algorithms.scopal.decision_table import read_decisions
    from stratagem.algorithms.scopal.steps import make_steps, summarize
    from stratagem.learn.advantages.catalogue import read_advantage

    estimator = read_advantage(named).value
    with show_progress(2, shown=progress) as step:
        step("reads the games")
        decisions = read_decisions(folders, names_of(players, "player"))
        step(f"estimates {named}")
        made = make_steps(decisions, folders, estimator)
    table = StepTable(made, summarize(made), file)
    if file is not None:
        table.save(file)
    return table
