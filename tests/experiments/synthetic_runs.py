"""Synthetic run folders for the tests of the tables: no training, only the files that a table reads."""

import json
from contextlib import nullcontext

from stratagem.base.settings import Settings
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog


class NoSettings(Settings):
    """Settings of a run that was never trained."""


def synthetic_run(folder, name, metrics=(), files=None, *, config="", over=True):
    """Create a run with a row of metrics for each step, and files of JSON by name."""
    run = RunFolder.create(folder / name, NoSettings(), 0, f"stratagem train {name}")
    info = {**json.loads((run.path / "run.json").read_text()), "commit": "c" * 40, "dirty": False}
    (run.path / "run.json").write_text(json.dumps(info))
    (run.path / "config.toml").write_text(config)
    for file, data in (files or {}).items():
        path = run.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data))
    with run.at_work() if over else nullcontext(), MetricLog(run) as log:
        for step, row in enumerate(metrics):
            log.write(step, row)
    return run
