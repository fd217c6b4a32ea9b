"""`stratagem steps`: estimated value of each step of recorded games, as a table for a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from stratagem.algorithms.scopal.decision_table import read_decisions
from stratagem.algorithms.scopal.steps import make_steps, write_steps
from stratagem.algorithms.scopal.summary import summarize
from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import number, print_json, table
from stratagem.errors import StratagemError
from stratagem.learning.advantages.catalogue import read_advantage


def steps(
    records: Annotated[
        list[Path], typer.Argument(help="Folders of recorded games, as `stratagem play --record` writes them.")
    ],
    file: Annotated[Path, typer.Option("--out", help="Parquet file for the table.")],
    step_reward: Annotated[
        str, typer.Option(help="Advantage estimator of the steps: step_win_rate, discounted, beta ...")
    ] = "step_win_rate",
    player: Annotated[
        list[str] | None,
        typer.Option(
            help="Player whose decisions count, by its name in the record; by default that of slot 0. Repeatable."
        ),
    ] = None,
    allow_file: options.AllowFile = None,
    json: options.Json = False,
) -> None:
    """Estimate the value of each step of recorded games."""
    if file.exists():
        raise StratagemError(f"{file} is there already: name another file.")
    estimator = read_advantage(step_reward).value
    estimated = make_steps(read_decisions(records, player or ()), records, estimator)
    try:
        write_steps(estimated, file)
    except OSError as error:
        raise StratagemError(f"{file} cannot be written: {error.strerror}.") from error
    data = summarize(estimated)
    if json:
        print_json(data)
        return
    out.print(_listing(data, file))
    out.print("samples: with repetitions; rows: distinct samples; ratio: advantageous to other rows.")


def _listing(data: dict[str, Any], file: Path) -> Table:
    grid = table(str(file), "game", "samples", "valid", "rows", "actions", "advantageous", "ratio")
    for game, figures in [*data["games"].items(), ("all", data["all"])]:
        ratio = "–" if figures["ratio"] is None else number(figures["ratio"], 2)
        counts = (figures["rows"], figures["unique_actions"], figures["advantageous"])
        grid.add_row(Text(game), str(figures["samples"]), f"{figures['valid']:.1%}", *map(str, counts), ratio)
    return grid
