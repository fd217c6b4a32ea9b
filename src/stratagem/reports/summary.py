"""What a report says at its top, as data."""

from __future__ import annotations

from typing import Any

from stratagem.reports.dominated import flagged
from stratagem.reports.headline import headlines
from stratagem.reports.run_data import RunData
from stratagem.reports.stages import stages_of, titles
from stratagem.reports.verdict import verdict
from stratagem.runs.folder import RunFolder


def summary(run: RunFolder) -> dict[str, Any]:
    """How a run stands, its verdict, its figures by game and stage, and the dominated actions of its policy."""
    data = RunData(run)
    findings = None if data.findings is None else {name: one.model_dump() for name, one in data.findings.items()}
    return {
        "run": run.name,
        "state": data.status.state,
        "sentence": data.status.sentence,
        "algorithm": data.algorithm,
        "seed": data.info.seed,
        "sft_steps": data.sft_steps,
        "step": data.last_step,
        "best_step": data.chosen_step,
        "verdict": verdict(data),
        "headlines": [one.to_json() for one in headlines(data)],
        "dominated": _dominated(data),
        "findings": findings,
    }


def _dominated(data: RunData) -> list[dict[str, Any]]:
    """By the names that the stages have in the tables."""
    called = {game: titles(data, stages_of(kept, data.chosen_step)) for game, kept in data.policies.items()}
    return [
        one.to_json() | {"stages": {called[one.game][name]: share for name, share in one.stages.items()}}
        for one in flagged(data)
    ]
