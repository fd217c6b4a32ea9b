"""`stratagem train --dry-run`: the resolved recipe, and an estimate of the memory and the time of its run."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from stratagem.cli.console import out
from stratagem.cli.output import print_json, table
from stratagem.runs.config_file import settings_toml

if TYPE_CHECKING:
    from stratagem.training.estimate import Estimate, Speed
    from stratagem.training.recipe_file import AnyRecipe

_GIB = 2.0**30


def print_dry_run(recipe: AnyRecipe, decode: float, learn: float, *, json: bool) -> None:
    """Print the recipe with every setting, and the estimate; as JSON, the estimate is the table `estimate`."""
    from stratagem.algorithms.estimates import estimated
    from stratagem.training.estimate import Speed

    settings, speed, estimate = settings_toml(recipe), Speed(decode, learn), estimated(recipe)
    if json:
        own = {} if estimate is None else {"estimate": estimate.data(speed)}
        print_json(tomllib.loads(settings) | own)
        return
    out.print(settings, markup=False, highlight=False)
    if estimate is not None:
        _print(estimate, speed)


def _print(estimate: Estimate, speed: Speed) -> None:
    data = estimate.data(speed)
    for text, parts in data["memory"].items():
        grid = table(f"Estimate of memory: {text}", "part", "GiB")
        for name, size in parts.items():
            grid.add_row(name.replace("_", " "), f"{size / _GIB:.2f}")
        out.print(grid)
    if estimate.unknown:
        names = ", ".join(estimate.unknown)
        out.print(f"The sizes of {names} are not known without a download.", markup=False, highlight=False)
    grid = table("Estimate of tokens, at most", "part", "number")
    for name in ("steps", "sampled_tokens_per_step", "prompt_tokens_per_step", "trained_tokens_per_step", "sft_tokens"):
        grid.add_row(name.replace("_", " "), f"{data[name]:,}")
    out.print(grid)
    if data["seconds"] is None:
        out.print("Time: give --decode-speed and --learn-speed, in tokens a second.", markup=False, highlight=False)
    else:
        hours, step = data["seconds"] / 3600.0, data["seconds_per_step"]
        out.print(f"Time: {step:.0f} s a step, {hours:.1f} hours in all.", markup=False, highlight=False)
