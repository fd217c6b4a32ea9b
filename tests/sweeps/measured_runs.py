"""Sweeps whose runs have only their metrics."""

from contextlib import nullcontext

from stratagem.sweeps.plan import SweepPlan
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog

ARMS = [{"name": "a"}, {"name": "b", "set": {"temperature": 0.5}}]
DATA = {"hypothesis": "a is better.", "recipe": "r.toml", "arms": ARMS, "metric": "m/x", "seeds": [0, 1, 2]}


def plan_of(**changes):
    return SweepPlan.read({**DATA, **changes})


def measured(folder, *, over=True, **values):
    """Runs that have only their metrics: by arm a value for each seed."""
    plan = plan_of()
    for arm, by_seed in values.items():
        for seed, value in enumerate(by_seed):
            run = RunFolder.create(folder / f"{arm}-{seed}", plan, seed, "a test")
            with run.at_work() if over else nullcontext(), MetricLog(run) as log:
                log.write(1, {"m/x": 100.0})
                log.write(2, {"m/x": value})
