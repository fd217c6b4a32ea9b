"""Kills of a run and of its workers at drawn times: the results are those of a run that was never killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from run_results import end_of

PROGRAM = "from stratagem.cli.main import main; main()"
RECIPE = """
algorithm = "league"
games = ["diplomacy(until=1901)"]
model = "tiny"
style = "bare"
opponents = ["random"]
evaluate_every = 2
checkpoint_every = 1
validation_episodes = 1
test_episodes = 1
tables_per_shard = 2
num_threads = 1
exact_budget = 0
learners = { main = { role = "main" }, exploiter = { role = "main_exploiter" } }
[league]
iterations = 2
snapshot_every = 2
crossplay_games = 1
group_size = 2
groups_per_batch = 2
horizon_phases = 1
"""


def begun(folder, num_workers):
    """Begin the run, or go on with it."""
    path = folder / "run"
    order = [str(path), "--resume"] if (path / "run.json").exists() else [str(folder / "r.toml"), "--out", str(path)]
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, "train", *order]
    command += ["--workers", str(num_workers)] if num_workers else []
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def results(folder):
    return {part.partition("/")[2]: found for part, found in end_of(folder / "run").items()}


def finished(process):
    _, said = process.communicate()
    assert process.returncode == 0, said


def workers_of(pid):
    """The processes that a process began, but for the one that watches over shared memory."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()]


def kill(folder, num_kills, seed):
    """Kill the run or one of its workers again and again, at drawn times; then let it end."""
    draw, kills = random.Random(seed), {"run": 0, "worker": 0}
    start = time.perf_counter()
    while sum(kills.values()) < num_kills:
        process = begun(folder, 2)
        victim = draw.choice(["run", "worker"])
        deadline = time.perf_counter() + draw.uniform(2.0, 30.0)
        while process.poll() is None and time.perf_counter() < deadline:
            time.sleep(0.05)
        if process.poll() is not None:
            finished(process)
            break
        pids = workers_of(process.pid) if victim == "worker" else []
        os.kill(draw.choice(pids) if pids else process.pid, signal.SIGKILL)
        kills["worker" if pids else "run"] += 1
        if pids:
            finished(process)
            break
        process.communicate()
    if not (folder / "run" / "run.json").exists() or '"finished"' not in (folder / "run" / "status.json").read_text():
        finished(begun(folder, 2))
    return kills, time.perf_counter() - start


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The results of the run without workers."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "r.toml").write_text(RECIPE)
    finished(begun(folder, 0))
    return results(folder)


@pytest.mark.linux
@pytest.mark.long
def test_twenty_kills_leave_equal_results(whole, tmp_path):
    """Two adapters under training in Diplomacy; kills in a shard, before a rename, or while weights are published."""
    kills = {"run": 0, "worker": 0}
    while (seed := sum(kills.values())) < 20:
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "r.toml").write_text(RECIPE)
        own, _ = kill(folder, 20 - seed, seed)
        kills = {name: kills[name] + own[name] for name in kills}
        assert results(folder) == whole
    assert min(kills.values()) >= 3
