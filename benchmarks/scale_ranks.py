"""Optimizer steps an hour by the number of ranks, and their efficiency: speed over that of one, over their number.

`make bench-scale` runs it by torch's launcher, once for each number of ranks (gloo on a processor). Each rank has one
thread. The steps are those of `Learner`, over an adapter and over all weights, on batches of several packs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from stratagem.api.devices import sharing_ranks
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.learn.sharded import ShardedOptimizer, ShardedPolicy
from stratagem.playing.workers.plan import change_plan
from stratagem.playing.workers.ranks import ranks_of_plan

MODEL, STEPS = "base", 3
NAME = "policy"


def examples() -> list[Example]:
    """Return texts without common prefixes, eight packs of them."""
    generator = torch.Generator().manual_seed(0)
    texts = torch.randint(5, 500, (64, 128), generator=generator).tolist()
    return [Example(tokens=tuple(text), loss_positions=tuple(range(100, 128))) for text in texts]


def learner_of(train: str) -> Learner:
    """Return a learner of an adapter, or of all weights, which ranks share."""
    lm, settings = load(MODEL), OptimizerSettings(learning_rate=1e-4)
    policy = Policy(lm, max_tokens_per_microbatch=1024)
    if train == "adapter":
        add_adapter(lm, NAME, 16, 32.0, seed=0)
        return Learner(policy, CrossEntropy(), Optimizer(adapter_parameters(lm, NAME), settings, 10), adapter=NAME)
    lm.model.requires_grad_(True)
    if (ranks := ranks_of_plan()) is None:
        return Learner(policy, CrossEntropy(), Optimizer(list(lm.model.parameters()), settings, 10), adapter=None)
    sharded = ShardedPolicy(policy, ranks)
    return Learner(sharded, CrossEntropy(), ShardedOptimizer(sharded, settings, 10), adapter=None)


def steps_an_hour(train: str) -> float:
    """Return the speed, after a first step."""
    learner, batch = learner_of(train), examples()
    learner.update_once(batch)
    start = time.perf_counter()
    for _ in range(STEPS):
        learner.update_once(batch)
    return 3600.0 * STEPS / (time.perf_counter() - start)


def measure() -> None:
    """Print the speeds of these ranks."""
    torch.set_num_threads(1)
    with sharing_ranks(None, None), change_plan(num_threads=1):
        print(json.dumps({train: steps_an_hour(train) for train in ("adapter", "all")}), flush=True)


def table(numbers: Sequence[int]) -> str:
    """Measure each number of ranks, and return the table."""
    found = {number: _launched(number) for number in numbers}
    lines = [f"| optimizer steps of {MODEL} | " + " | ".join(f"{number} ranks" for number in numbers) + " |"]
    lines.append("| --- |" + " --- |" * len(numbers))
    for train, first in found[numbers[0]].items():
        ratios = {number: found[number][train] / first * numbers[0] / number for number in numbers}
        cells = [f"{found[number][train]:,.0f} an hour, efficiency {ratios[number]:.2f}" for number in numbers]
        lines.append(f"| {train} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _launched(number: int) -> dict[str, float]:
    launcher = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone"]
    command = [*launcher, f"--nproc-per-node={number}", str(Path(__file__))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    speeds: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return speeds


if __name__ == "__main__":
    measure()
