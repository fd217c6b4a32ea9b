"""`stratagem data`: demonstration data sets of algorithms, as files that any trainer reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.demonstrations import ALGORITHMS, data
from stratagem.cli import completion, options
from stratagem.cli.output import print_result
from stratagem.demonstrations.sets import PUBLISHED, SETS


def write_data(
    algorithm: Annotated[str, typer.Argument(help=f"Algorithm: {', '.join(ALGORITHMS)}.")],
    folder: Annotated[Path, typer.Option("--out", help="New or empty folder for the sets.")],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help=f"Set: {', '.join(SETS)}. Repeatable; by default {', '.join(PUBLISHED)}, as published."
        ),
    ] = None,
    seed: options.Seed = 42,
    style: Annotated[
        str,
        typer.Option(
            help="Prompt style; a style without reasoning has the action alone.", autocompletion=completion.styles
        ),
    ] = ("reasoned"),
    scale: Annotated[float, typer.Option(help="Size, as a multiple of the published size.")] = 1.0,
    json: options.Json = False,
) -> None:
    """Write demonstrations of scripted players, as data for SFT."""
    written = data(algorithm, folder, sets=sets or (), seed=seed, style=style, scale=scale, progress=not json)
    print_result(written, json=json)
