"""`stratagem steps`: estimated value of each step of recorded games, as a table for a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.steps import STEP_REWARD
from stratagem.api.steps import steps as estimate_steps
from stratagem.cli import options
from stratagem.cli.output import print_result


def steps(
    records: Annotated[
        list[Path], typer.Argument(help="Folders of recorded games, as `stratagem play --record` writes them.")
    ],
    file: Annotated[Path, typer.Option("--out", help="Parquet file for the table.")],
    step_reward: Annotated[
        str, typer.Option(help="Advantage estimator of the steps: step_win_rate, discounted, beta ...")
    ] = STEP_REWARD,
    player: Annotated[
        list[str] | None,
        typer.Option(
            help="Player whose decisions count, by its name in the record; by default that of slot 0. Repeatable."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Estimate the value of each step of recorded games."""
    print_result(estimate_steps(records, file, step_reward=step_reward, players=player or ()), json=json)
