"""Plan of a sweep: the hypothesis, the arms, the metric, and the expected order."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from stratagem.base.consent.needs import texts_of
from stratagem.base.consent.table import note_named, settle
from stratagem.base.errors import BadParameter
from stratagem.base.files import parse_toml, read_small, reason
from stratagem.base.renamed.metrics import MetricName
from stratagem.base.settings import Settings
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.training.runs.config_file import toml_value
from stratagem.training.shipped import recipe_path

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Arm(Settings):
    """One variant of training."""

    name: str
    """Name of the arm."""
    recipe: str | tuple[str, ...] = ""
    """Recipe, or several that are composed, where it is not the sweep's own."""
    set: dict[str, Any] = Field(default={})
    """Changed settings, as `{ "grpo.loss.beta" = 0.1 }`."""


class SweepPlan(Settings):
    """Plan of a sweep."""

    hypothesis: str = Field(min_length=1)
    """Hypothesis in words."""
    recipe: str | tuple[str, ...] = ""
    """Recipe of all arms, or several that are composed, by paths from the sweep's file or names of shipped recipes."""
    arms: tuple[Arm, ...] = ()
    """Arms one by one."""
    vary: dict[str, list[Any]] = Field(default={})
    """Settings with their values, all combinations of which are arms; an alternative to `arms`."""
    seeds: tuple[int, ...] = Field(default=(0, 1, 2, 3, 4), min_length=1)
    """Seeds of each arm."""
    metric: MetricName
    """Metric to compare, as metrics.jsonl names it."""
    direction: Literal["maximize", "minimize"] = "maximize"
    """Direction in which the metric is better."""
    aggregate: Literal["last", "mean"] = "last"
    """Aggregation: the last value, or the mean over training."""
    expect: tuple[str, ...] = ()
    """Arms from the best to the worst, by the hypothesis."""

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        for key, some in self.vary.items():
            _check_values(key, some)
        return self

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [arm.name for arm in self.all_arms()]
        if bool(self.arms) == bool(self.vary):
            raise ValueError("a sweep has `arms`, or settings to `vary`: give one of the two")
        if len(set(names)) < len(names):
            raise ValueError("two arms have one name: give each a name of its own")
        if bad := [name for name in names if not _NAME.fullmatch(name)]:
            raise ValueError(f"{bad[0]!r} cannot name an arm: use letters, digits, - _ and .")
        if empty := [key for key, some in self.vary.items() if not some]:
            raise ValueError(f"`vary` gives {empty[0]} no value: list some, or leave it out")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("`seeds` names a seed twice: each run is made once")
        if "seed" in self.vary or any("seed" in arm.set for arm in self.arms):
            raise ValueError("`seed` is no arm of a sweep: every arm is run with each of `seeds`, so name them there")
        if any(not (arm.recipe or self.recipe) for arm in self.all_arms()):
            raise ValueError("an arm has no recipe: name one in `recipe`, for all or for itself")
        if unknown := [name for name in self.expect if name not in names]:
            raise ValueError(f"no arm is called {unknown[0]!r}: arms are {', '.join(names)}")
        if len(self.expect) == 1 or len(set(self.expect)) < len(self.expect):
            raise ValueError("`expect` names two arms at least, each once, the best first")
        return self

    def all_arms(self) -> list[Arm]:
        """Return the arms, with those of `vary`."""
        if self.arms:
            return list(self.arms)
        combined = itertools.product(*([(key, value) for value in some] for key, some in self.vary.items()))
        return [
            Arm(name="-".join(f"{key.rpartition('.')[2]}.{_plain(value)}" for key, value in some), set=dict(some))
            for some in combined
        ]


def _check_values(key: str, values: Sequence[Any]) -> None:
    """Refuse values of a setting to vary whose arms would have one name."""
    named: dict[str, Any] = {}
    for value in values:
        name = _plain(value)
        if name in named and named[name] == value:
            raise ValueError(f"`vary` gives {key} the value {toml_value(value)} twice: each value is one arm")
        if name in named:
            raise ValueError(
                f"`vary` gives {key} the values {toml_value(named[name])} and {toml_value(value)}, whose arms would "
                "have one name: write `arms` in its place, which have names of their own"
            )
        named[name] = value


def _plain(value: Any) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", str(value))


def read_plan(path: Path) -> SweepPlan:
    """Read the plan in a file."""
    try:
        data = parse_toml(read_small(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"The sweep {path} cannot be read: {reason(error)}.") from error
    except ValueError as error:
        raise BadParameter(f"The sweep {path} is no TOML: {error}.") from error
    if data and data.keys().isdisjoint(SweepPlan.model_fields):
        raise BadParameter(
            f"{path} is a recipe and no sweep: `stratagem train {shlex.quote(str(path))}` trains by it, and a sweep "
            "names it as `recipe`."
        )
    note_named(path, texts_of(data))
    settle([path.resolve()])
    return SweepPlan.read(data)


def plan_runs(plan: SweepPlan, folder: Path) -> Iterator[PlannedRun]:
    """Plan all runs, a seed of every arm before the next one of any; recipes are found by their paths from `folder`."""
    for seed in plan.seeds:
        for arm in plan.all_arms():
            changes = {key: toml_value(value) for key, value in arm.set.items()} | {"seed": str(seed)}
            recipes = _several(arm.recipe or plan.recipe)
            yield PlannedRun(f"{arm.name}-{seed}", tuple(recipe_path(name, folder) for name in recipes), changes)


def _several(recipe: str | tuple[str, ...]) -> tuple[str, ...]:
    return (recipe,) if isinstance(recipe, str) else recipe
