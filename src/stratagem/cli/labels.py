"""`stratagem labels`: action labels under which an untrained model begins near a target policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from stratagem.cli import options
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
    game: Annotated[str, typer.Argument(help="A repeated matrix game of two by two actions.")],
    model: Annotated[str, typer.Option(help="The model that is asked, such as `tiny`.")],
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="How likely the first action is to be: one number, or five after one another with commas, at the "
            f"start and after each joint action. May be repeated; by default {_DEFAULT} in turn, as in ShapeLLM."
        ),
    ] = None,
    style: Annotated[str, typer.Option(help="How a turn is put into words.")] = "shapellm-state",
    seat: Annotated[int, typer.Option(min=0, max=1, help="The seat that is asked, its own action first.")] = 1,
    top: Annotated[int, typer.Option(min=1, help="How many pairs to print for each target.")] = 5,
    min_legal: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Leave out pairs whose labels together are less likely than this.")
    ] = 0.0,
    write_to: options.Out = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the scan in --out: nothing is asked twice.")
    ] = False,
    draw_to: Annotated[
        Path | None, typer.Option("--svg", help="A file for the maps of the scan, as a picture.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Ask a model under all 650 pairs of capitals, and print those under which it begins nearest to a target."""
    asked = Asked(pinned(model), style, scene_of(make_game(game), make_style(style), seat))
    wanted = [parse_target(text, asked.scene.states) for text in target or map(str, TARGETS)]
    readings = _whole(asked, write_to, draw_to, resume=resume, quiet=json)
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


def _whole(asked: Asked, write_to: Path | None, draw_to: Path | None, *, resume: bool, quiet: bool) -> Scan:
    """Measure every pair that is not known already; results are saved after each batch."""
    if resume and write_to is None:
        raise StratagemError("--resume goes on with the scan in --out: say which file that is.")
    scan_so_far = resumed(write_to, asked) if resume and write_to is not None else {}
    missing = [pair for pair in PAIRS if pair not in scan_so_far]
    if not missing:
        return scan_so_far
    if draw_to is not None:
        _write(draw_to, "", mode="a")  # that it cannot be written is found out before minutes are spent
    engine, adapter = served(asked.model)
    with progress(num_batches(missing), quiet=quiet) as step:
        batches = scan(engine, asked.scene, missing, adapter=adapter, progress=step)
        _keep(write_to, asked, scan_so_far)
        for some in batches:
            scan_so_far.update(some)
            _keep(write_to, asked, scan_so_far)
    return scan_so_far


def _keep(write_to: Path | None, asked: Asked, readings: Scan) -> None:
    if write_to is not None:
        write_json(scan_json(asked, readings, {}), write_to)


def _ranking(asked: Asked, target: Target, pairs: Sequence[Ranked]) -> Table:
    """Return a row a pair: the probability of its first label, of the two, in every state."""
    target_name = f"{target[0]:g}" if len(set(target)) == 1 else ", ".join(f"{value:g}" for value in target)
    title = (
        f"p({asked.actions[0]}) nearest to {target_name}   of the two labels, seat {asked.scene.seat}, own action first"
    )
    made = table(title, "labels", "KL", *asked.scene.states, "legal")
    for pair in pairs:
        share, legal = pair.reading.share, pair.reading.legal
        cells = [number(pair.kl, 5), *map(number, share), number(sum(legal) / len(legal))]
        made.add_row(Text("/".join(pair.labels)), *map(Text, cells))
    return made


def _remarks(readings: Scan, kept: int, min_legal: float) -> str:
    """Explain the columns, and name what was left out."""
    read = sum(reading is not None for reading in readings.values())
    split, rare = len(readings) - read, read - kept
    parts = [
        "\nKL is from the target to the model's two labels alone, mean over the states, in nats; `legal` is what the",
        "two have together among all tokens, mean over the states: the rest would be illegal.",
        *([f"{split} of {len(readings)} pairs left out: a label is more than one token there."] if split else []),
        *([f"{rare} of {len(readings)} pairs left out: their labels have less than {min_legal:g}."] if rare else []),
    ]
    return "\n".join(parts)


def _write(path: Path, text: str, mode: str = "w") -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StratagemError(f"{path} cannot be written: {error.strerror}.") from error
