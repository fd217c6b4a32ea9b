"""Pipes, folders and links in the place of a run's files are refused in one sentence, and nothing waits for them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of
from stratagem.errors import StratagemError
from stratagem.lock import is_locked, locked
from stratagem.runs.checkpoint import save_checkpoint
from stratagem.runs.folder import RunFolder
from stratagem.settings import Settings

SECONDS = 60


class Walk(Settings):
    steps: int = 1


def made(folder):
    """Two finished runs with a checkpoint each; the first is the one to spoil."""
    for name in ("odd", "whole"):
        run = RunFolder.create(folder / name, Walk(), seed=1, command="a test")
        with run.at_work():
            save_checkpoint(run, 1, {})
    return RunFolder(folder / "odd")


def stratagem(*words, **options):
    """Run a command; one that waits is an error."""
    command = [sys.executable, "-m", "stratagem", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, **options)


def spoil(path, kind):
    path.unlink(missing_ok=True)
    os.mkfifo(path) if kind == "pipe" else path.mkdir()


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("name", ["lock", "config.toml", "newest.json", "checkpoints/step-000001/manifest.json"])
def test_runs_lists_all_runs_beside_one_with_an_odd_file(tmp_path, name, kind):
    spoil(made(tmp_path).path / name, kind)
    done = stratagem("runs", tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert "whole" in done.stdout
    assert "finished" in done.stdout
    if name == "lock":
        assert f"{name} should be a file" in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_resume_with_an_odd_lock_is_refused_in_a_sentence(tmp_path, kind):
    data = {"algorithm": "reinforce", **RECIPES["reinforce"]}
    recipe = algorithm_of(data).recipe_type.read(data)
    run = RunFolder.create(tmp_path / "run", recipe, seed=1, command="a test")
    spoil(run.path / "lock", kind)
    done = stratagem("train", run.path, "--resume")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "lock should be a file" in " ".join(done.stderr.split())


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_lock_is_a_file(tmp_path, kind):
    spoil(tmp_path / "lock", kind)
    with pytest.raises(StratagemError, match="should be a file"):
        is_locked(tmp_path / "lock")
    with pytest.raises(StratagemError, match="should be a file"), locked(tmp_path / "lock", "this"):
        pass
    with locked(tmp_path / "other", "this"):
        assert is_locked(tmp_path / "other")
    assert not is_locked(tmp_path / "other")


def test_sigterm_leaves_a_run_that_says_that_it_was_interrupted(tmp_path):
    recipe = 'algorithm = "reinforce"\nmodel = "tiny"\ngames = ["kuhn(hands=1)"]\nopponents = ["random"]\n'
    (tmp_path / "long.toml").write_text(recipe + "[reinforce]\niterations = 100000\n")
    command = [sys.executable, "-m", "stratagem", "train", "long.toml", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        status, end = tmp_path / "run" / "status.json", time.monotonic() + SECONDS
        begun = tmp_path / "run" / "metrics.jsonl"  # before, a library in C++ may be read, which hides the signal
        while not begun.is_file() and time.monotonic() < end:
            time.sleep(0.05)
        run.send_signal(signal.SIGTERM)
        _, complaint = run.communicate(timeout=SECONDS)
    assert run.returncode == 143, complaint
    assert "stratagem train run --resume" in " ".join(complaint.split())
    assert '"state": "failed"' in status.read_text(), status.read_text() + complaint
    assert "It was interrupted" in status.read_text(), status.read_text() + complaint
