"""Kills runs of every algorithm, sweeps and tournaments: `killing_work.py FOLDER SEED NUM_KILLS KIND...`.

All work is forked from this process, which has loaded everything. A kill comes at a time that is drawn over as long as
the work lasts without one; then the same command is given again. Prints by kind how many kills and works there were,
how long one lasts, and what was lost: everything that is not as in the work that was never killed.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parents[1]))  # this is a program, too

from killing import forked, kill_after, killed

from run_results import end_of
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound, recipe_of
from stratagem.cli.main import main as command
from stratagem.language.models.load import load
from stratagem.sweeps.plan import read_plan
from stratagem.sweeps.runner import Sweep
from stratagem.training.runs.folder import RunFolder

SWEEP = """
hypothesis = "Warm is better."
recipe = "recipe.toml"
metric = "kuhn/validation/payoff"
seeds = [0, 1]
arms = [{name = "warm"}, {name = "cold", set = {temperature = 0.5}}]
"""
SWEPT = """
algorithm = "grpo"
games = ["kuhn(hands=1)"]
evaluate_every = 1
validation_episodes = 1
test_episodes = 1
[adapter]
rank = 1
[grpo]
iterations = 1
groups_per_batch = 1
group_size = 2
signal_every = 0
"""
PLAYERS = ["random", "AlwaysBet", "NashApprox"]


def train(path, name):
    """Begin a run of an algorithm, or go on with it."""
    if path.exists():
        run = RunFolder.open(path)
        recipe = recipe_of(run)
    else:
        recipe = algorithm_of({"algorithm": name}).recipe_type.read({"algorithm": name, **RECIPES[name]})
        run = RunFolder.create(path, recipe, recipe.seed, "a test")
    bound(recipe, run).train()


def sweep(path, _):
    """Make what a sweep lacks."""
    plan = path.parent / "sweep.toml"
    if not plan.exists():
        (path.parent / "recipe.toml").write_text(SWEPT)
        plan.write_text(SWEEP)
    Sweep(plan, read_plan(plan), path, any_tree=True).run()


def tournament(path, _):
    """Play what a tournament lacks."""
    again = ["--resume"] if path.exists() else []
    try:
        command(["tournament", "kuhn", "--players", *PLAYERS, "--episodes", "60", "--record", str(path), *again])
    except SystemExit as left:
        assert not left.code  # noqa: PT017 - a command ends so


WORK = {**dict.fromkeys(RECIPES, train), "sweep": sweep, "tournament": tournament}


def kill(kind, folder, num, rng):
    """So many kills of one kind of work, each at a time of its own; then what differs from work that was not killed."""
    (folder / "whole").mkdir(parents=True)
    start = time.perf_counter()
    assert not killed(forked(lambda: WORK[kind](folder / "whole" / "work", kind)))
    lasts = time.perf_counter() - start
    expected, kills, works, lost = end_of(folder / "whole" / "work"), 0, 0, []
    while kills < num:
        own, works = folder / str(works), works + 1
        own.mkdir()
        while kills < num and kill_after(lambda own=own: WORK[kind](own / "work", kind), rng.uniform(0.2, 1.0) * lasts):
            kills += 1
        assert not killed(forked(lambda own=own: WORK[kind](own / "work", kind)))
        found = end_of(own / "work")
        lost += [name for name in {*expected, *found} if expected.get(name) != found.get(name)]
    return {"kills": kills, "works": works, "lasts": round(lasts, 2), "parts": len(expected), "lost": sorted(lost)}


def main(folder, seed, num, *kinds):
    rng = random.Random(int(seed))
    torch.set_num_threads(1)
    os.fsync = lambda _: None  # a kill leaves what is with the system, and waiting for the disk takes most of the time
    sys.stdout = sys.stderr
    load("tiny")
    done = {kind: kill(kind, Path(folder) / kind, int(num), rng) for kind in kinds or WORK}
    sys.__stdout__.write(json.dumps(done) + "\n")
    sys.__stdout__.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
