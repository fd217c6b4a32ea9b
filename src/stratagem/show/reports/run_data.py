"""Data of a run for a report: each part is read once, on demand; unreadable parts are reported and left out.

A run may have just begun, may be old, or may be of another algorithm, so no part need be there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.files import parse_json, parse_toml, read_bounded, read_small, reason
from stratagem.show.reports.files import (
    EloRating,
    EvaluationFile,
    FindingSchema,
    LeagueMember,
    LeagueTable,
    Models,
    PolicySchema,
    SkillRating,
)
from stratagem.training.runs.folder import FORMAT, RunFolder, RunInfo, Status, own_file
from stratagem.training.runs.metrics import Curve, read_metrics

T = TypeVar("T")
_LEAGUE = TypeAdapter(LeagueTable)
_FINDINGS = TypeAdapter(dict[str, FindingSchema])
_EVALUATION = TypeAdapter(EvaluationFile)
_POLICY = TypeAdapter(PolicySchema)
_MODELS = TypeAdapter(Models)
SFT_PREFIXES = ("sft/", "sft-", "kl_sft/", "kl_sft-")
"""Prefixes of the metrics of SFT."""
META = "meta/"
"""Prefix of the metrics of meta-policies, which are trained before the trials."""


class RunData:
    """Tolerant reader of a run."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self.broken: dict[str, str] = {}
        """Unreadable parts, each with one sentence."""

    @cached_property
    def info(self) -> RunInfo:
        """Provenance of the run, without which there is no run."""
        return self.run.info()

    @cached_property
    def status(self) -> Status:
        """Status of the run."""
        return self.run.status()

    @cached_property
    def damaged_shards(self) -> list[str]:
        """Sentences about files of the record that are cut or missing."""
        from stratagem.playing.store import damage_of

        return damage_of(self.run.record)

    @cached_property
    def settings_text(self) -> str:
        """Resolved recipe as text."""
        try:
            return read_bounded(own_file(self.run.path / "config.toml")).decode("utf-8", "replace")
        except BadRecord as error:
            self.broken["config.toml"] = str(error)
            return ""
        except (OSError, ValueError) as error:
            self.broken["config.toml"] = f"config.toml cannot be read: {reason(error)}."
            return ""

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Resolved recipe as data, under the names of this release; empty where it is no TOML."""
        try:
            data = parse_toml(self.settings_text)
        except ValueError as error:
            self.broken["config.toml"] = f"config.toml is no TOML: {error}."
            return {}
        if self.info.format == FORMAT:
            return data
        with suppress(StratagemError, ImportError):  # of an algorithm that is not here, or without the extra for models
            from stratagem.algorithms.catalogue import upgrade_data  # loads torch, so only for runs of earlier releases

            data, _ = upgrade_data(data)
        return data

    @property
    def algorithm(self) -> str:
        """Name of the algorithm; empty where the recipe does not have it."""
        return str(self.settings.get("algorithm", ""))

    @cached_property
    def curves(self) -> dict[str, Curve]:
        """All metrics by name; steps are counted from the end of SFT and of meta-policies, but for theirs."""
        meta = (curve.steps[-1] for name, curve in self._metrics.items() if name.startswith(META))
        before = max(self.sft_steps, *meta, 0)
        return {
            name: curve
            if name.startswith((*SFT_PREFIXES, META))
            else Curve([step - before for step in curve.steps], curve.values)
            for name, curve in self._metrics.items()
        }

    @property
    def beginning(self) -> str:
        """Title of the initial policy in tables: the base model, or the result of SFT."""
        return "SFT" if self.sft_steps else "Base"

    @cached_property
    def sft_steps(self) -> int:
        """Number of steps of SFT."""
        if all(name.startswith(SFT_PREFIXES) for name in self._metrics):  # there is nothing but SFT
            return 0
        return max(
            (steps[-1] for name, (steps, _) in self._metrics.items() if name.startswith(SFT_PREFIXES)), default=0
        )

    @cached_property
    def _metrics(self) -> dict[str, Curve]:
        """All metrics as they were written, with the steps of the whole run."""
        try:
            return read_metrics(self.run)
        except StratagemError as error:
            self.broken["metrics.jsonl"] = str(error)
            return {}

    @cached_property
    def evaluation(self) -> EvaluationFile | None:
        """The final evaluation."""
        return self._read("evaluation.json", _EVALUATION)

    @cached_property
    def league(self) -> LeagueTable | None:
        """Final evaluation of a league, in which the base has the same name as in the other tables."""
        table = self._read("league.json", _LEAGUE)
        bases = [member.name for member in table.members if member.is_base] if table else []
        # a league of learners on several models has a base of each, called base_LEARNER
        names = {name: " of ".join(filter(None, (self.beginning, name.partition("_")[2]))) for name in bases}
        return table and rename_members(table, names)

    @cached_property
    def findings(self) -> dict[str, FindingSchema] | None:
        """Findings of the checks, their first step as curves count it; None where none were saved."""
        found = self._read("findings.json", _FINDINGS)
        return found and {
            check: finding.model_copy(update={"step": self._first_step(check)}) for check, finding in found.items()
        }

    def _first_step(self, check: str) -> int | None:
        """Return the first step with a finding of a check; the file has the optimizer step of one policy instead."""
        policy, _, name = check.rpartition("/")
        curve = self.curves.get(f"{policy}/checks/{name}" if policy else f"checks/{name}")
        return next((step for step, hit in zip(*curve, strict=True) if hit), None) if curve else None

    @cached_property
    def policies(self) -> dict[str, list[PolicySchema]]:
        """Policy over training by game, in the order of steps, which are counted from the end of SFT."""
        paths = sorted((self.run.path / "policies").glob("*.json"))
        policies = [policy for path in paths if (policy := self._read(f"policies/{path.name}", _POLICY)) is not None]
        by_game: dict[str, list[PolicySchema]] = {}
        for policy in sorted(policies, key=lambda policy: policy.step):
            renumbered = policy.model_copy(update={"step": policy.step - self.sft_steps})
            by_game.setdefault(policy.game, []).append(renumbered)
        return by_game

    @cached_property
    def chosen_step(self) -> int | None:
        """Step of the chosen checkpoint: the run's best model, else the first with the greatest `checkpoint_metric`."""
        best = self._best_model()
        if best is not None:
            return best
        scored = {step: value for step, value in finite(self.curves.get("checkpoint_metric")).items() if step > 0}
        return max(scored, key=scored.__getitem__) if scored else None

    @property
    def start_is_best(self) -> bool:
        """True if the chosen checkpoint has no greater `checkpoint_metric` than the start."""
        scored, chosen = finite(self.curves.get("checkpoint_metric")), self.chosen_step
        return 0 in scored and chosen in scored and scored[chosen] <= scored[0]

    @cached_property
    def _models(self) -> Models:
        return self._read("models.json", _MODELS) or Models()

    @cached_property
    def titles(self) -> dict[int, str]:
        """Names of models in tables, by step as in `policies`; empty where the algorithm gives the names."""
        by_label = self._models.titles.items()
        return {int(label) - self.sft_steps: title for label, title in sorted(by_label) if label.isdecimal()}

    @property
    def chosen_label(self) -> str:
        """Label of the chosen checkpoint as a player where it counts the steps of SFT, too; empty elsewhere."""
        label = "" if self.chosen_step is None else str(self.chosen_step + self.sft_steps)
        return label if self.sft_steps and label in self._models.models else ""

    def _best_model(self) -> int | None:
        """Return the numbered model that equals the best; a league numbers from the end of SFT."""
        models = self._models.models
        alike = [label.partition("/") for label, model in models.items() if model == models.get("best")]
        steps = [int(step) - (0 if learner else self.sft_steps) for step, _, learner in alike if step.isdecimal()]
        return min(steps) if steps else None

    @cached_property
    def last_step(self) -> int | None:
        """The newest step after SFT."""
        before = SFT_PREFIXES if self.sft_steps else ()
        return max(
            (curve.steps[-1] for name, curve in self.curves.items() if not name.startswith(before)), default=None
        )

    def _read(self, name: str, shape: TypeAdapter[T]) -> T | None:
        path = self.run.path / name
        if not path.is_file():
            return None
        try:
            return shape.validate_python(_json(path))
        except (OSError, ValueError) as error:
            self.broken[name] = f"{name} does not have the expected format: {_reason(error)}."
            return None


def _reason(error: Exception) -> str:
    """Return the first reason of a file's error in one line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    return " ".join(str(error).split())[:200].rstrip(".")


def _json(path: Path) -> Any:
    return parse_json(read_small(path))


def finite(curve: Curve | None) -> dict[int, float]:
    """Return the finite values of a curve by step."""
    pairs = zip(*curve, strict=True) if curve else ()
    return {step: value for step, value in pairs if math.isfinite(value)}


Named = TypeVar("Named", LeagueMember, EloRating, SkillRating)


def rename_members(league: LeagueTable, names: Mapping[str, str]) -> LeagueTable:
    """Rename members; a new name that another member already has is not used."""
    others = {member.name for member in league.members} - names.keys()
    new_names = {old: new for old, new in names.items() if new not in others}
    changes = {
        "members": _renamed_items(league.members, new_names),
        "elo": _renamed_items(league.elo, new_names),
        "skill": _renamed_items(league.skill, new_names),
        "cycles": [_renamed_row(row, new_names) for row in league.cycles],
        "forgotten": [_renamed_row(row, new_names) for row in league.forgotten],
        "aside": {new_names.get(name, name): why for name, why in league.aside.items()},
    }
    return league.model_copy(update=changes)


def _renamed_row(row: Sequence[str], new_names: Mapping[str, str]) -> list[str]:
    return [new_names.get(name, name) for name in row]


def _renamed_items(items: Sequence[Named], new_names: Mapping[str, str]) -> list[Named]:
    return [item.model_copy(update={"name": new_names.get(item.name, item.name)}) for item in items]
