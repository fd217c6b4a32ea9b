"""Dry runs: `dry_run` checks a recipe, and estimates the memory, the tokens and the time of its run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stratagem.api.arguments import as_path, names_of
from stratagem.api.mistakes import one_sentence
from stratagem.api.result import Result
from stratagem.api.trainings import RUNS, RecipeLike, read_recipe
from stratagem.base.consent.needs import Need
from stratagem.base.consent.table import consent, reading_files
from stratagem.base.options import whole, within
from stratagem.games.base import Json
from stratagem.language.models.unloaded import NotLoaded, forbid_loading
from stratagem.show.table import Numbers, ResultTable, text_table
from stratagem.training.runs.config_file import settings_toml
from stratagem.training.runs.folder import RunFolder, check_free
from stratagem.training.runs.trackers.catalogue import make_trackers

if TYPE_CHECKING:
    from stratagem.algorithms.machine_choices import CheckpointingChoice
    from stratagem.algorithms.memory_sizes import SizeChoice
    from stratagem.language.models.number_format import FormatChoice
    from stratagem.training.estimate import RunEstimate, Speed
    from stratagem.training.recipe_file import AnyRecipe

_GIB = 2.0**30
_TOKENS = ("steps", "sampled_tokens_per_step", "prompt_tokens_per_step", "trained_tokens_per_step", "sft_tokens")

__all__ = ["DryRun", "dry_run"]


@dataclass(frozen=True, repr=False)
class DryRun(Result):
    """Resolved recipe of a run that is not made, and its estimate. It is no measurement, so there is no picture."""

    recipe: AnyRecipe
    estimate: RunEstimate | None
    """None for an algorithm of another package."""
    speed: Speed
    checkpointing: CheckpointingChoice | None = None
    """Choice of gradient checkpointing; None where the recipe makes it, or the sizes of the model are unknown."""
    unchecked: tuple[str, ...] = ()
    """Models whose checks are left to the start of the run, since a dry run loads none."""
    needs: Mapping[Need, bool] = field(default_factory=dict)
    """Needs of the recipes: what they would run, contact, read and hand over, and whether it is allowed."""
    formats: tuple[FormatChoice, ...] = ()
    """Choices of number formats for `+dtype=auto`."""
    sizes: SizeChoice | None = None
    """Choice of sizes by free memory; None where the recipe makes all, or the sizes of the model are unknown."""
    devices: int = 1
    """Devices that learn together."""

    @property
    def toml(self) -> str:
        """Recipe with every setting, as TOML."""
        return settings_toml(self.recipe)

    @property
    def seconds(self) -> float | None:
        """Estimated time of the run; None where a speed is not known."""
        seconds: float | None = self._data().get("seconds")
        return seconds

    def rows(self) -> list[Json]:
        """Return one row for each part of the memory of each model, in bytes, and for each number of tokens."""
        data = self._data()
        memory = [
            {"model": text, "figure": name, "value": size, "unit": "bytes"}
            for text, parts in data.get("memory", {}).items()
            for name, size in parts.items()
        ]
        units = {"steps": "steps", "seconds_per_step": "seconds", "seconds": "seconds"}
        names = [name for name in (*_TOKENS, "seconds_per_step", "seconds") if data.get(name) is not None]
        return memory + [
            {"model": None, "figure": name, "value": data[name], "unit": units.get(name, "tokens")} for name in names
        ]

    def to_json(self) -> Json:
        """Return the recipe and the estimate, as `stratagem train --dry-run --json` prints them."""
        settings = tomllib.loads(self.toml) | {
            "asks_for": [_describe_need(need, allowed=allowed) for need, allowed in self.needs.items()]
        }
        return settings if self.estimate is None else settings | {"estimate": self._data()}

    def tables(self) -> list[ResultTable]:
        if self.estimate is None:
            return [text_table("There is no estimate for an algorithm of another package.", ("",), [])]
        data = self._data()
        memory = [
            text_table(
                f"Estimate of memory: {text}" + (f", each of {self.devices} devices" if self.devices > 1 else ""),
                ("part", Numbers("GiB", 2)),
                [(_words(n), s / _GIB) for n, s in of.items()],
            )
            for text, of in data["memory"].items()
        ]
        tokens = [(_words(name), data[name]) for name in _TOKENS]
        return [*memory, text_table("Estimate of tokens, at most", ("part", Numbers("number")), tokens)]

    def remarks(self) -> list[str]:
        """Return what is not checked, the models of unknown size, and the time, each as a sentence."""
        lines = []
        if self.unchecked:
            lines.append(f"What needs the loaded model {' or '.join(self.unchecked)} is checked when the run starts.")
        if self.estimate is None:
            return lines
        from stratagem.training.estimate import NOT_COUNTED

        lines += [str(choice) for choice in (*self.formats, self.checkpointing, self.sizes) if choice is not None]
        lines.append(f"Memory is without {NOT_COUNTED}.")
        totals = self.estimate.totals()
        for device, names in self.estimate.on_one_device.items():
            size = totals[" and ".join(names)] / _GIB
            lines.append(f"On {device or 'one device'}, {' and '.join(names)} take {size:.2f} GiB together.")
        if self.estimate.unknown:
            lines.append(f"The sizes of {', '.join(self.estimate.unknown)} are not known without a download.")
        if self.seconds is None:
            return [*lines, "Time: give `decode_speed=` and `learn_speed=`, in tokens a second."]
        step, speed = self._data()["seconds_per_step"], self.speed
        given = f"the given {speed.decode:,.0f} sampled and {speed.learn:,.0f} trained tokens a second"
        return [
            *lines,
            f"The time rests on these tokens and on {given}. Evaluations, checkpoints and loading are not in it.",
            f"Time: {step:.0f} s a step, {self.seconds / 3600.0:.1f} hours in all.",
        ]

    def _data(self) -> dict[str, Any]:
        return {} if self.estimate is None else self.estimate.data(self.speed)


def _words(name: str) -> str:
    return name.replace("_", " ")


@one_sentence
def dry_run(
    recipes: RecipeLike | Sequence[RecipeLike],
    *,
    changes: Mapping[str, object] | None = None,
    decode_speed: float = 0.0,
    learn_speed: float = 0.0,
    device_memory: float = 0.0,
    devices: int | None = None,
    out: str | Path | None = None,
    track: str | Sequence[str] = (),
    allow: str | Sequence[str] = (),
) -> DryRun:
    """Check recipes, print them with all settings, and estimate the memory and the tokens; nothing is trained.

    No model is loaded: whether a model can output the actions of a game is checked when the run starts. With both
    speeds the time is estimated, too. What the recipe leaves to the machine is chosen: gradient checkpointing, the
    tokens of a pass and the rows of the engine by free memory, and the number format of a model with `+dtype=auto` by
    its speed.

    Args:
        recipes: Recipes, as for `train`.
        changes: Settings to change by their places, such as sepo.exploitability_weight=3.
        decode_speed: Number of sampled tokens a second, for the time.
        learn_speed: Number of tokens of training a second, for the time.
        device_memory: Free memory of the GPU of the run in GiB; 0 takes this machine's.
        devices: Number of devices that learn together; the memory is that of one. This machine need not have them.
        out: New folder of the run; one that exists is refused.
        track: Services that get the metrics, too: wandb or trackio, as in `wandb(project=NAME)`.
        allow: Single things that a recipe may use although its folder is not trusted: a Python file, a command
            `cmd:...`, or a server as HOST or HOST:PORT.
    """
    given = {"decode_speed": decode_speed, "learn_speed": learn_speed, "device_memory": device_memory}
    for name, value in given.items():
        within("dry_run", name, value, 0.0)
    whole("dry_run", "devices", number := 1 if devices is None else devices, 1)
    make_trackers(names_of(track, "tracker"))
    if out is not None:
        check_free(as_path(out, "run"))
    with reading_files(*names_of(allow, "permission")):
        recipe = read_recipe(recipes, changes)
        unchecked = _check(recipe)
        from stratagem.algorithms import machine_choices
        from stratagem.algorithms.estimates import estimate_run
        from stratagem.language.models.devices import find_device
        from stratagem.training.estimate import Speed

        memory = device_memory * _GIB or machine_choices.device_memory()
        recipe, formats = machine_choices.choose_formats(recipe, find_device())
        on_gpu = bool(device_memory) or find_device().startswith("cuda")
        recipe, checkpointing, sizes = machine_choices.choose_by_memory(recipe, memory, on_gpu=on_gpu, devices=number)
        speed = Speed(decode_speed, learn_speed)
        known = checkpointing.estimate if checkpointing is not None and not checkpointing.used else None
        estimate = sizes.estimate if sizes is not None else known or estimate_run(recipe, number)
        return DryRun(recipe, estimate, speed, checkpointing, unchecked, needs_now(), formats, sizes, number)


def needs_now() -> dict[Need, bool]:
    """Return what the files that were read would run, contact, read and hand over, the gravest first."""
    return dict(sorted(consent().needs.items(), key=lambda entry: entry[0].kind))


def _describe_need(need: Need, *, allowed: bool) -> Json:
    return {"kind": need.kind.name.lower(), "what": need.what, "named_by": str(need.place), "allowed": allowed}


def _check(recipe: AnyRecipe) -> tuple[str, ...]:
    """Refuse a recipe that cannot be trained; return the models whose checks are left to the start of the run."""
    from stratagem.algorithms.catalogue import check_new

    with forbid_loading() as models, suppress(NotLoaded):
        check_new(recipe, RunFolder(RUNS / "new"))
    return tuple(models)
