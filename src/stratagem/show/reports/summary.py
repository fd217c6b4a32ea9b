"""Summary at the top of a report, as data."""

from __future__ import annotations

from typing import Any

from stratagem.show.reports.dominated import find_flagged
from stratagem.show.reports.headline import headlines
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.stages import stages_of, titles
from stratagem.show.reports.verdict import verdict
from stratagem.training.runs.folder import RunFolder


def summary(run: RunFolder) -> dict[str, Any]:
    """Summarise a run: its status, verdict, figures by game and stage, and dominated actions."""
    data = RunData(run)
    findings = (
        None if data.findings is None else {name: finding.model_dump() for name, finding in data.findings.items()}
    )
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
        "headlines": [headline.to_json() for headline in headlines(data)],
        "dominated": _dominated_by_stage(data),
        "findings": findings,
    }


def _dominated_by_stage(data: RunData) -> list[dict[str, Any]]:
    """Return the dominated actions by the stages' titles."""
    stage_titles = {
        game: titles(data, stages_of(policies, data.chosen_step)) for game, policies in data.policies.items()
    }
    return [
        action.to_json() | {"stages": {stage_titles[action.game][name]: share for name, share in action.stages.items()}}
        for action in find_flagged(data)
    ]
