"""`stratagem labels`: action labels under which an untrained model starts near a target policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from stratagem.cli import completion, options
from stratagem.cli.console import out
from stratagem.cli.output import number, print_json, progress, table, write_json
from stratagem.engines.open import served
from stratagem.errors import BadParameter, StratagemError
from stratagem.evaluation.label_picture import picture
from stratagem.evaluation.label_record import Asked, Target, resumed, scan_json
from stratagem.evaluation.labels import PAIRS, TARGETS, Ranked, Scan, num_batches, rank, scan, scene_of
from stratagem.games.catalogue import make_game
from stratagem.models.run_models import pinned
from stratagem.prompting.catalogue import make_style

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
    style: Annotated[str, typer.Option(help="Prompt style.", autocompletion=completion.styles)] = "shapellm-state",
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
    asked = Asked(pinned(model), style, scene_of(make_game(game), make_style(style), seat))
    wanted = [parse_target(text, asked.scene.states) for text in target or map(str, TARGETS)]
    readings = _complete_scan(asked, write_to, draw_to, resume=resume, quiet=json)
    ranked = {target_name: rank(readings, target_name, min_legal) for target_name in wanted}
    best = {target_name: pairs[:top] for target_name, pairs in ranked.items()}
    data = scan_json(asked, readings, best)
    if write_to is not None:
        write_json(data, write_to)
    if draw_to is not None:
        _write(
            draw_to, picture(readings, asked.scene.states, asked.actions, f"{model} in {game}, seat {seat}, {style}")
        )
    if json:
        print_json(data)
        return
    for target_name, pairs in best.items():
        out.print(_ranking(asked, target_name, pairs))
    out.print(_remarks(readings, len(ranked[wanted[0]]), min_legal), highlight=False, markup=False)


def parse_target(text: str, states: Sequence[str]) -> Target:
    """Read one probability for every state, or one for all of them."""
    try:
        values = tuple(float(piece) for piece in text.split(","))
    except ValueError:
        values = ()
    if len(values) not in (1, len(states)) or not all(0.0 <= value <= 1.0 for value in values):
        raise BadParameter(
            f"A target is one probability, such as 0.75, or {len(states)} of them with commas between "
            f"({', '.join(states)}), not {text!r}."
        )
    return values if len(values) == len(states) else values * len(states)


def _complete_scan(asked: Asked, write_to: Path | None, draw_to: Path | None, *, resume: bool, quiet: bool) -> Scan:
    """Measure every pair that is not known already; results are saved after each batch."""
    if resume and write_to is None:
        raise StratagemError("--resume continues the scan in --out: name its file.")
    scan_so_far = resumed(write_to, asked) if resume and write_to is not None else {}
    missing = [pair for pair in PAIRS if pair not in scan_so_far]
    if not missing:
        return scan_so_far
    if draw_to is not None:
        _write(draw_to, "", mode="a")  # fails now, not after minutes, if it cannot be written
    engine, adapter = served(asked.model)
    with progress(num_batches(missing), quiet=quiet) as step:
        batches = scan(engine, asked.scene, missing, adapter=adapter, progress=step)
        _save(write_to, asked, scan_so_far)
        for some in batches:
            scan_so_far.update(some)
            _save(write_to, asked, scan_so_far)
    return scan_so_far


def _save(write_to: Path | None, asked: Asked, readings: Scan) -> None:
    if write_to is not None:
        write_json(scan_json(asked, readings, {}), write_to)


def _ranking(asked: Asked, target: Target, pairs: Sequence[Ranked]) -> Table:
    """Return a row a pair: the probability of its first label, of the two, in every state."""
    target_name = f"{target[0]:g}" if len(set(target)) == 1 else ", ".join(f"{value:g}" for value in target)
    title = (
        f"p({asked.actions[0]}) nearest to {target_name}   given the labels, seat {asked.scene.seat}, own action first"
    )
    grid = table(title, "labels", "KL", *asked.scene.states, "legal")
    for pair in pairs:
        share, legal = pair.reading.share, pair.reading.legal
        cells = [number(pair.kl, 5), *map(number, share), number(sum(legal) / len(legal))]
        grid.add_row(Text("/".join(pair.labels)), *map(Text, cells))
    return grid


def _remarks(readings: Scan, kept: int, min_legal: float) -> str:
    """Explain the columns, and name what was left out."""
    read = sum(reading is not None for reading in readings.values())
    split, rare = len(readings) - read, read - kept
    parts = [
        "\nKL is the divergence from the target to the policy given the labels: mean over states, in nats.",
        "`legal` is the total probability of the two labels among all tokens: mean over states.",
        *([f"{split} of {len(readings)} pairs left out: a label has more than one token."] if split else []),
        *(
            [f"{rare} of {len(readings)} pairs left out: the total probability of the labels is below {min_legal:g}."]
            if rare
            else []
        ),
    ]
    return "\n".join(parts)


def _write(path: Path, text: str, mode: str = "w") -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StratagemError(f"{path} cannot be written: {error.strerror}.") from error
