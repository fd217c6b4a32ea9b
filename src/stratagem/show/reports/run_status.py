"""Status of a run as data: its state, its steps, its best checkpoint, and its newest exact figures."""

from __future__ import annotations

from typing import Any

from stratagem.show.reports.run_data import RunData
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

_EXACT = "/exact/exploitability"


def status_of(run: RunFolder) -> dict[str, Any]:
    """Describe the status of a run; steps are counted from the end of SFT, as in its report."""
    status, data = run.status(), RunData(run)
    curves, _ = read_metrics(run), latest(run, digests=False)  # both raise on damage, which a report leaves out
    exact = {name.removesuffix(_EXACT): curve.values[-1] for name, curve in curves.items() if name.endswith(_EXACT)}
    return {
        "state": status.state,
        "sentence": status.sentence,
        "since": status.since,
        "algorithm": data.algorithm,
        "seed": run.info().seed,
        "sft_steps": data.sft_steps,
        "step": data.last_step or 0,
        "best_step": data.chosen_step,
        "exploitability": exact,
    }
