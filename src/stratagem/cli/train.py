"""`stratagem train`: from a recipe to a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.dry_runs import dry_run as estimate_run
from stratagem.api.dry_runs import needs_now
from stratagem.api.runs import Run
from stratagem.api.trainings import train as run_training
from stratagem.cli import completion, options
from stratagem.cli.broken_off import resumable
from stratagem.cli.console import out
from stratagem.cli.dry_run import print_dry_run, print_needs
from stratagem.cli.output import print_json, print_result
from stratagem.errors import BadParameter, StratagemError
from stratagem.runs.trackers.tracks import track_urls


@options.with_options(options.WORK, options.SERVERS)
def train(
    recipes: Annotated[
        list[str],
        typer.Argument(
            help="Recipes, by path or by a name of `stratagem recipes`; a later one overrides an earlier one. With "
            "--resume, the folder of a run.",
            autocompletion=completion.recipes,
        ),
    ],
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Setting to change, such as sepo.exploitability_weight=3. Repeatable."),
    ] = None,
    into: Annotated[Path | None, typer.Option("--out", help="Folder of the run; by default runs/NAMES-SEED.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first fault that a check of training finds.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="With --resume: accept a changed recipe, or start again if all checkpoints are missing."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check the recipe, print it with all settings, estimate memory and tokens, and exit. No model is "
            "loaded: whether it can output the actions is checked when the run starts.",
        ),
    ] = False,
    decode_speed: Annotated[
        float, typer.Option("--decode-speed", min=0.0, help="With --dry-run: sampled tokens a second, for the time.")
    ] = 0.0,
    learn_speed: Annotated[
        float, typer.Option("--learn-speed", min=0.0, help="With --dry-run: tokens a second of training, for the time.")
    ] = 0.0,
    device_memory: Annotated[
        float,
        typer.Option(
            "--device-memory",
            min=0.0,
            help="With --dry-run: memory of the device of the run, in GiB; by default that of this machine.",
        ),
    ] = 0.0,
    track: Annotated[
        list[str] | None,
        typer.Option(
            help="Service that gets the metrics, too: wandb or trackio, as in `wandb(project=NAME)`. Repeatable.",
            autocompletion=completion.trackers,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Train a model by one or more recipes; continue a stopped run with --resume."""
    given = dict(map(_change, changes or ()))
    if dry_run:
        if resume or force:
            raise BadParameter("--dry-run tells what a new run would take: leave out --resume and --force.")
        try:
            checked = estimate_run(
                recipes,
                changes=given,
                out=into,
                track=track or (),
                decode_speed=decode_speed,
                learn_speed=learn_speed,
                device_memory=device_memory,
            )
        except StratagemError:
            print_needs(needs_now())  # so that one sees what a recipe asks for before one allows it
            raise
        print_dry_run(checked, json=json)
        return
    with resumable():
        run = run_training(
            recipes,
            changes=given,
            out=into,
            resume=resume,
            strict=strict,
            force=force,
            track=track or (),
            command=" ".join(["stratagem", *sys.argv[1:]]),
        )
    print_json(run.to_json()) if json else _print_summary(run)


def _change(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadParameter(f"--set {text} changes nothing: write it as --set sepo.exploitability_weight=3.")
    return key.strip(), value.strip()


def _print_summary(run: Run) -> None:
    print_result(run, json=False)
    for name, url in track_urls(run.folder).items():
        out.print(f"{name}: {url}", highlight=False, markup=False)
    out.print(f"stratagem report {run.path}", style="bold", highlight=False, markup=False)
