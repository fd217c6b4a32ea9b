"""Pipes, folders and links in the place of a run's files are refused in one sentence, and nothing waits for them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forks import forked_command
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of
from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.lock import hold_lock, is_locked
from stratagem.base.settings import Settings
from stratagem.training.runs.checkpoint import save_checkpoint
from stratagem.training.runs.folder import RunFolder, check_shown_links

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


def spoil(path, kind):
    path.unlink(missing_ok=True)
    os.mkfifo(path) if kind == "pipe" else path.mkdir()


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("name", ["lock", "config.toml", "newest.json", "checkpoints/step-000001/manifest.json"])
def test_runs_lists_all_runs_beside_one_with_an_odd_file(tmp_path, name, kind):
    spoil(made(tmp_path).path / name, kind)
    status, printed = forked_command("runs", tmp_path, work=tmp_path, scratch=tmp_path)
    assert status in (0, 1), printed
    assert "Traceback" not in printed
    assert "whole" in printed
    assert "finished" in printed
    if name == "lock":
        assert f"{name} should be a file" in " ".join(printed.split())


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_resume_with_an_odd_lock_is_refused_in_a_sentence(tmp_path, kind):
    data = {"algorithm": "reinforce", **RECIPES["reinforce"]}
    recipe = algorithm_of(data).recipe_type.read(data)
    run = RunFolder.create(tmp_path / "run", recipe, seed=1, command="a test")
    spoil(run.path / "lock", kind)
    status, printed = forked_command("train", run.path, "--resume", work=tmp_path, scratch=tmp_path)
    assert status == 2, printed
    assert "Traceback" not in printed
    assert "lock should be a file" in " ".join(printed.split())


@pytest.mark.parametrize("name", ["config.toml", "status.json", "metrics.jsonl", "report.html", "new.json"])
def test_a_link_to_a_file_elsewhere_is_neither_shown_nor_written(tmp_path, name):
    folder = made(tmp_path).path
    (mine := tmp_path / "mine.txt").write_text("secret = 'mine'\n")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(mine)
    for words in (("report", folder), ("train", folder, "--resume")):
        status, printed = forked_command(*words, work=tmp_path, scratch=tmp_path)
        assert status == 2, printed
        assert "is a link to a file outside its run" in " ".join(printed.split())
    with pytest.raises(StratagemError, match="outside its run"), RunFolder(folder).at_work():
        pass
    assert mine.read_text() == "secret = 'mine'\n"
    (folder / name).unlink()
    (folder / name).symlink_to(folder / "run.json")
    assert RunFolder.open(folder).path == folder


def test_a_link_to_itself_is_refused_in_a_sentence_where_a_run_is_shown(tmp_path, monkeypatch):
    (folder := tmp_path / "run").mkdir()
    (folder / "loop").symlink_to("loop")
    monkeypatch.chdir(folder)
    for path in (folder, Path()):
        with pytest.raises(BadRecord, match="loop is a link out of the folder run: put"):
            check_shown_links(path)


@pytest.mark.parametrize("target", ["run.json/inside", "n" * 300])
def test_a_link_that_leads_nowhere_does_not_hide_a_run(tmp_path, target):
    (folder := tmp_path / "run").mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "link").symlink_to(target)
    check_shown_links(folder)


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_lock_is_a_file(tmp_path, kind):
    spoil(tmp_path / "lock", kind)
    with pytest.raises(StratagemError, match="should be a file"):
        is_locked(tmp_path / "lock")
    with pytest.raises(StratagemError, match="should be a file"), hold_lock(tmp_path / "lock", "this"):
        pass
    with hold_lock(tmp_path / "other", "this"):
        assert is_locked(tmp_path / "other")
    assert not is_locked(tmp_path / "other")


@pytest.mark.runs
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
    assert '"state": "interrupted"' in status.read_text(), status.read_text() + complaint
    assert "It was interrupted" in status.read_text(), status.read_text() + complaint
