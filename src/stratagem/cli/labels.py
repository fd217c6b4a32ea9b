"""`stratagem labels`: action labels under which an untrained model starts near a target policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.labels import STYLE
from stratagem.api.labels import labels as find_labels
from stratagem.cli import completion, options
from stratagem.cli.output import print_result
from stratagem.evaluation.labels import TARGETS

_DEFAULT = ", ".join(f"{target:g}" for target in TARGETS)


def labels(
    game: Annotated[
        str, typer.Argument(help="Repeated matrix game of two by two actions.", autocompletion=completion.games)
    ],
    model: Annotated[str, typer.Option(help="Model, such as `tiny`.", autocompletion=completion.models)],
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Target probability of the first action: one number, or five numbers with commas, at the start and "
            f"after each joint action. Repeatable; by default {_DEFAULT}, as in ShapeLLM."
        ),
    ] = None,
    style: Annotated[str, typer.Option(help="Prompt style.", autocompletion=completion.styles)] = STYLE,
    seat: Annotated[int, typer.Option(min=0, max=1, help="Seat of the model; its own action stands first.")] = 1,
    top: Annotated[int, typer.Option(min=1, help="Number of pairs to print per target.")] = 5,
    min_legal: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Minimum total probability of the two labels.")
    ] = 0.0,
    write_to: options.Out = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the scan in --out.")] = False,
    draw_to: Annotated[Path | None, typer.Option("--svg", help="SVG file for the maps of the scan.")] = None,
    json: options.Json = False,
) -> None:
    """Measure a model's policy under all 650 pairs of capital letters, and print the pairs nearest to a target."""
    found = find_labels(
        game,
        model,
        targets=target or TARGETS,
        style=style,
        seat=seat,
        top=top,
        min_legal=min_legal,
        out=write_to,
        resume=resume,
        svg=draw_to,
        progress=not json,
    )
    print_result(found, json=json)
