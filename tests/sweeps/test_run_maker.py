"""The maker of planned runs: it begins, resumes and skips runs, goes on after failures, and shares its folder."""

import json
import multiprocessing
import shlex
import subprocess
from contextlib import closing

import pytest
from test_sweeps import RECIPE

from stratagem.base import provenance
from stratagem.base.consent.table import allow
from stratagem.base.errors import StratagemError
from stratagem.cli.main import main
from stratagem.playing.workers.base import InProcess
from stratagem.playing.workers.plan import change_plan
from stratagem.playing.workers.processes import Processes
from stratagem.sweeps import planned_run, run_maker
from stratagem.sweeps.plan import read_plan
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.sweeps.run_maker import make_run, make_runs
from stratagem.sweeps.runner import Sweep
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

FORK = multiprocessing.get_context("fork")


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    path = tmp_path / "r.toml"
    path.write_text(RECIPE)
    monkeypatch.setattr(run_maker, "source", lambda: {"commit": "a" * 40, "dirty": False})
    return path


def planned(recipe, name, **changes):
    return PlannedRun(name, (recipe,), {"seed": "0", **changes})


def state(folder, name):
    return RunFolder.open(folder / name).status().state


def hold(folder, ready, done):
    """Be at work on a run until another process has seen it."""
    with RunFolder.open(folder).at_work():
        ready.set()
        done.wait(60)


@pytest.fixture
def held(tmp_path, recipe):
    """A run that another process is at work on."""
    run = planned(recipe, "held")
    RunFolder.create(tmp_path / "out" / "held", run.recipe(), 0, "a test")
    ready, done = FORK.Event(), FORK.Event()
    process = FORK.Process(target=hold, args=(tmp_path / "out" / "held", ready, done))
    process.start()
    assert ready.wait(60)
    yield run
    done.set()
    process.join(60)


def test_make_run_begins_a_run_and_skips_it_once_it_is_finished(tmp_path, recipe):
    run = planned(recipe, "a-0")
    assert make_run(run, tmp_path / "out", "a command") == "made"
    assert RunFolder.open(tmp_path / "out/a-0").info().command == "a command"
    before = (tmp_path / "out/a-0/metrics.jsonl").read_bytes()
    assert make_run(run, tmp_path / "out", "another command") == "finished"
    assert (tmp_path / "out/a-0/metrics.jsonl").read_bytes() == before


def test_make_run_resumes_a_run_that_was_interrupted(tmp_path, recipe):
    run = planned(recipe, "a-0")
    folder = RunFolder.create(tmp_path / "out" / "a-0", run.recipe(), 0, "a test")
    with pytest.raises(KeyboardInterrupt), folder.at_work():
        raise KeyboardInterrupt
    assert make_run(run, tmp_path / "out", "a command") == "made"
    assert folder.info().command == "a test"


def test_make_run_skips_a_run_that_another_process_holds(tmp_path, held):
    assert make_run(held, tmp_path / "out", "a command") == "held"
    assert state(tmp_path / "out", "held") == "running"


def test_make_run_skips_a_run_that_is_taken_after_its_status_was_read(tmp_path, held, monkeypatch):
    failed = RunFolder.open(tmp_path / "out/held").status().model_copy(update={"state": "failed"})
    monkeypatch.setattr(RunFolder, "status", lambda run: failed)
    assert make_run(held, tmp_path / "out", "a command") == "held"


def test_make_run_takes_a_folder_that_another_process_has_just_created(tmp_path, recipe, monkeypatch):
    run = planned(recipe, "a-0")
    RunFolder.create(tmp_path / "out" / "a-0", run.recipe(), 0, "the other process")
    existing, calls = planned_run.PlannedRun.existing, []

    def late(self, folder):
        calls.append(folder)
        return None if len(calls) < 3 else existing(self, folder)

    monkeypatch.setattr(planned_run.PlannedRun, "existing", late)
    assert make_run(run, tmp_path / "out", "a command") == "made"
    assert RunFolder.open(tmp_path / "out/a-0").info().command == "the other process"


def test_make_run_refuses_a_run_that_was_begun_with_other_settings(tmp_path, recipe):
    make_run(planned(recipe, "a-0"), tmp_path / "out", "a command")
    with pytest.raises(StratagemError, match="The run a-0 was begun with other settings"):
        make_run(planned(recipe, "a-0", temperature="0.5"), tmp_path / "out", "a command")


def test_make_runs_takes_each_run_after_the_earlier_ones_are_finished(tmp_path, recipe):
    out = tmp_path / "out"

    def runs():
        yield planned(recipe, "a-0")
        seed = RunFolder.open(out / "a-0").config_data()["seed"]
        yield planned(recipe, "b-0", temperature=str(0.5 + seed))

    assert make_runs(runs(), out) == {}
    assert {state(out, name) for name in ("a-0", "b-0")} == {"finished"}


def test_make_runs_tells_a_failure_and_goes_on(tmp_path, recipe):
    messages = []
    runs = [planned(recipe, "a-0", games='["nothing"]'), planned(recipe, "b-0")]
    failed = make_runs(runs, tmp_path / "out", messages.append)
    assert list(failed) == ["a-0"]
    assert messages[1].startswith("a-0 failed: There is no game called 'nothing'")
    assert messages[2] == runs[1].command(tmp_path / "out")
    assert not (tmp_path / "out/a-0").exists()
    assert state(tmp_path / "out", "b-0") == "finished"
    assert RunFolder.open(tmp_path / "out/b-0").info().command == messages[2]
    make_runs(runs[1:], tmp_path / "out", messages.append)
    assert messages[3:] == ["b-0 is skipped: it was finished before."]


ESTIMATOR = """
from dataclasses import dataclass
import numpy as np
from stratagem.learn.advantages.base import AdvantageEstimator

@dataclass(frozen=True)
class Singular(AdvantageEstimator):
    def estimate(self, decisions, state):
        return np.linalg.inv(np.zeros((2, 2)))
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_make_runs_goes_on_after_an_error_of_a_named_file(tmp_path, recipe, workers):
    (tmp_path / "own.py").write_text(ESTIMATOR)
    allow(str(tmp_path / "own.py"))
    names = [f"{tmp_path}/own.py:Singular", "group_mean"]
    runs = [planned(recipe, f"a-{index}", **{"grpo.advantage": name}) for index, name in enumerate(names)]
    pool = InProcess() if workers == 1 else Processes(workers)
    with closing(pool), change_plan(workers=pool):
        failed = make_runs(runs, tmp_path / "out")
    assert list(failed) == ["a-0"]
    assert "own.py cannot be used: line 9 raises LinAlgError: Singular matrix." in str(failed["a-0"])
    assert state(tmp_path / "out", "a-1") == "finished"


def test_make_runs_skips_what_is_held_and_makes_the_rest(tmp_path, held, recipe):
    messages = []
    assert make_runs([held, planned(recipe, "b-0")], tmp_path / "out", messages.append) == {}
    assert "held is skipped: another process is at work on it." in messages
    assert state(tmp_path / "out", "b-0") == "finished"


def git(folder, *arguments):
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", folder, *arguments], check=True, capture_output=True)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A committed program in a repository of its own, which the maker takes for the one that runs."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "__init__.py").write_text("RULE = 1\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Add the program")
    monkeypatch.setattr(run_maker, "source", lambda: provenance.source.__wrapped__(folder))
    return folder


def test_make_runs_accepts_a_clean_commit(program, tmp_path):
    assert make_runs([], tmp_path / "out") == {}


@pytest.mark.parametrize(("name", "text"), [("__init__.py", "RULE = 2\n"), ("new.py", "RULE = 1\n")])
def test_make_runs_refuses_a_tree_with_changes(program, tmp_path, name, text):
    (program / name).write_text(text)
    with pytest.raises(StratagemError, match="differs from its own: commit it first"):
        make_runs([planned(tmp_path / "none.toml", "a-0")], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_make_runs_refuses_a_program_that_git_does_not_keep(tmp_path, monkeypatch):
    monkeypatch.setattr(run_maker, "source", lambda: provenance.source.__wrapped__(tmp_path))
    with pytest.raises(StratagemError, match="git does not keep this program: run a clone"):
        make_runs([], tmp_path / "out")


def test_command_is_taken_by_the_command_line(tmp_path, recipe, capsys):
    run = planned(recipe, "a b", temperature="0.5", opponents='["random"]')
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(run.command(tmp_path))[1:], "--dry-run", "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["temperature"] == 0.5


def sweep(folder, start):
    start.wait(60)
    plan = folder / "s.toml"
    Sweep(plan, read_plan(plan), folder / "out", any_tree=True).run()


def test_two_processes_share_the_runs_of_a_sweep(tmp_path, recipe):
    (tmp_path / "s.toml").write_text(
        'hypothesis = "h"\nrecipe = "r.toml"\nmetric = "kuhn/validation/payoff"\nseeds = [0]\n'
        'arms = [{ name = "a" }, { name = "b", set = { temperature = 0.5 } }]\n'
    )
    start = FORK.Event()
    processes = [FORK.Process(target=sweep, args=(tmp_path, start)) for _ in range(2)]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    for name in ("a-0", "b-0"):
        assert state(tmp_path / "out", name) == "finished"
        assert not (tmp_path / "out" / name / "set-aside").exists(), "no run was begun twice"
    assert (tmp_path / "out/sweep.toml").read_text() == (tmp_path / "s.toml").read_text()


def test_sweep_skips_a_run_that_another_process_holds(tmp_path, held):
    (tmp_path / "s.toml").write_text(
        'hypothesis = "h"\nrecipe = "r.toml"\nmetric = "kuhn/validation/payoff"\nseeds = [0]\n'
        'arms = [{ name = "a" }, { name = "b", set = { temperature = 0.5 } }]\n'
    )
    (tmp_path / "out/held").rename(tmp_path / "out/a-0")
    messages = []
    Sweep(tmp_path / "s.toml", read_plan(tmp_path / "s.toml"), tmp_path / "out", any_tree=True).run(messages.append)
    assert messages == ["1 of 2: a-0", "a-0 is skipped: another process is at work on it.", "2 of 2: b-0"]
    assert state(tmp_path / "out", "a-0") == "running"
    assert state(tmp_path / "out", "b-0") == "finished"
