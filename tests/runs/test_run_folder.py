"""A run as a folder: begun once, worked on by one process at a time, and honest about how it stands."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.files import check_writable
from stratagem.base.provenance import source
from stratagem.base.settings import Settings
from stratagem.training.runs.files import PARTIAL, new_folder, remove_folder, remove_leftovers, write_file
from stratagem.training.runs.folder import RunFolder, Status, find_runs


class Config(Settings):
    steps: int = 3


WORKER = """
import sys
from pathlib import Path
from stratagem.training.runs.folder import RunFolder
with RunFolder.open(Path(sys.argv[1])).at_work():
    print("at work", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "kuhn-1", Config(steps=5), 7, "stratagem train kuhn")


def test_a_new_run_says_what_it_is(run):
    assert RunFolder.open(run.path) == run
    assert run.name == "kuhn-1"
    assert run.config(Config) == Config(steps=5)
    info = run.info()
    assert (info.seed, info.command) == (7, "stratagem train kuhn")
    assert info.made_by["packages"]["torch"] == version("torch")
    assert info.made_by["command"] == "stratagem train kuhn"
    assert {path.name for path in run.path.iterdir()} == {"config.toml", "run.json"}
    assert run.status() == Status(state="failed", sentence="It was never started.")


def test_what_is_there_is_refused_and_left_alone(run, tmp_path):
    with pytest.raises(StratagemError, match=r"already: resume it by `stratagem train .*kuhn-1 --resume`, or name"):
        RunFolder.create(run.path, Config(steps=6), 8, "again")
    assert run.info().seed == 7
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StratagemError, match=r"file exists already: name a new folder by `out=`\."):
        RunFolder.create(tmp_path / "file", Config(), 8, "again")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "kuhn-1"]


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(BadRecord, match=r"There is no run at .*: a run is a folder with run\.json"):
        RunFolder.open(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StratagemError, match=r"run cannot be written: "):
        RunFolder.create(tmp_path / "file" / "run", Config(), 1, "x")


@pytest.mark.parametrize("text", ["{", "[]", '{"seed": 1}', '{"state": "asleep"}', "[" * 100_000])
def test_torn_notes_are_named(text, run):
    (run.path / "run.json").write_text(text)
    (run.path / "status.json").write_text(text)
    for read in (run.info, run.status):
        with pytest.raises(StratagemError, match=r"run\.json|status\.json") as refused:
            read()
        assert str(run.path) in str(refused.value)


def test_a_run_that_ends(run):
    with run.at_work():
        assert run.status().state == "running"
    status = run.status()
    assert (status.state, status.sentence) == ("finished", "")
    assert status.since


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (StratagemError("The game chess is not there."), "The game chess is not there."),
        (ZeroDivisionError("division\nby zero"), "ZeroDivisionError: division by zero"),
        (AssertionError(), "AssertionError: no message"),
        (ValueError("x" * 9999), "ValueError: " + "x" * 500),
    ],
)
def test_a_run_that_fails_says_why_and_can_be_taken_up(error, sentence, run):
    ends_with(error, run, "failed", sentence)


def test_an_interrupted_run_has_not_failed_and_can_be_taken_up(run):
    ends_with(KeyboardInterrupt(), run, "interrupted", "It was interrupted: it can be resumed.")


def ends_with(error, run, state, sentence):
    with pytest.raises(type(error)), run.at_work():
        raise error
    assert (run.status().state, run.status().sentence) == (state, sentence)
    with run.at_work():
        assert run.status() == run.status().model_copy(update={"state": "running", "sentence": ""})


@pytest.mark.parametrize("before", ["finished", "failed", None])
def test_a_refused_start_leaves_the_status(before, run):
    def refuse():
        raise StratagemError("The checkpoint is of another run.")

    if before:
        with suppress(ZeroDivisionError), run.at_work():
            assert before == "finished" or 1 / 0
    was = run.status()
    assert was.state == (before or "failed")
    with pytest.raises(StratagemError, match="of another run"), run.at_work(refuse):
        pytest.fail("it began")
    assert run.status() == was


def test_what_is_prepared_is_handed_over(run):
    with run.at_work(lambda: run.status().sentence) as prepared:
        assert prepared == "It was never started."
        assert run.status().state == "running"


def test_the_first_error_is_the_one_to_see(run):
    with pytest.raises(ZeroDivisionError), run.at_work():  # noqa: PT012 - the order is the point
        (run.path / "status.json").unlink()
        (run.path / "status.json").mkdir()
        raise ZeroDivisionError


def test_a_second_process_is_refused_until_the_first_is_dead(run):
    with subprocess.Popen([sys.executable, "-c", WORKER, run.path], stdin=-1, stdout=-1, text=True) as worker:
        assert worker.stdout.readline() == "at work\n"
        assert run.status().state == "running"
        with (
            pytest.raises(StratagemError, match=r"Another process uses the run .*kuhn-1: wait"),
            run.at_work(),
        ):
            pytest.fail("two at work")
        assert run.status().state == "running"
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        status = run.status()
        assert (status.state, status.sentence) == ("failed", "Its process was killed: it can be resumed.")
        with run.at_work():
            assert run.status().state == "running"


def test_whoever_only_looks_turns_no_worker_away(run):
    over = threading.Event()

    def look():
        while not over.is_set():
            run.status()

    watchers = [threading.Thread(target=look) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    try:
        for _ in range(30):
            with run.at_work():
                assert run.status().state == "running"
            assert run.status().state == "finished"
    finally:
        over.set()
        for watcher in watchers:
            watcher.join()


def test_runs_are_found(run, tmp_path):
    second = RunFolder.create(tmp_path / "a", Config(), 1, "x")
    (tmp_path / "no-run").mkdir()
    new_folder(tmp_path / f"{PARTIAL}b", lambda folder: write_file(folder / "run.json", "{}"))
    assert find_runs(tmp_path) == [second, run]


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    def half(folder):
        (folder / "first").write_text("x")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        new_folder(tmp_path / "new", half)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_keeps_what_it_held(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_file(path, "before")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StratagemError, match=r"file cannot be written: No space left on device\.$"):
        write_file(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path], "nothing torn stays on a full disk"


@pytest.mark.parametrize("name", [".", "/", "folder"])
def test_a_folder_is_no_file_to_write(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for refused in (lambda path: write_file(path, "x"), check_writable):
        with pytest.raises(StratagemError, match=r"cannot be written: Is a directory\.$"):
            refused(Path(name))
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_pipe_is_written_and_stays_one(tmp_path):
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    check_writable(pipe)
    write_file(pipe, "figures")
    assert os.read(reader, 100) == b"figures"
    assert pipe.is_fifo()
    os.close(reader)


def test_a_link_stays_one_and_its_file_is_written(tmp_path):
    (link := tmp_path / "link").symlink_to(tmp_path / "file")
    write_file(link, "x")
    assert link.is_symlink()
    assert (tmp_path / "file").read_text() == "x"


def test_a_check_of_a_file_makes_no_folder_and_leaves_nothing(tmp_path):
    check_writable(tmp_path / "new" / "figures.json")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StratagemError, match="cannot be written"):
        check_writable(Path("/dev/null/nowhere/figures.json"))


def test_leftovers_go_and_nothing_else(tmp_path):
    write_file(tmp_path / "kept", "x")
    for name in (f"{PARTIAL}file", "record/episodes/000001.partial", f"{PARTIAL}abc/deep/{PARTIAL}inner"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("half")
    new_folder(tmp_path / "gone", lambda folder: write_file(folder / "x", "x"))
    remove_folder(tmp_path / "gone")
    remove_leftovers(tmp_path)
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["kept", "record", "record/episodes"]


def git(folder, *arguments):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


def test_the_commit_is_the_programs_own(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    found = source.__wrapped__
    assert found(package) == {"commit": None, "dirty": None}
    git(tmp_path, "init")
    (tmp_path / "other").write_text("")
    git(tmp_path, "add", "other")
    git(tmp_path, "commit", "-m", "somebody else's")
    assert found(package) == {"commit": None, "dirty": None}
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "ours")
    clean = found(package)
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    (package / "__init__.py").write_text("x = 1")
    assert found(package) == {"commit": clean["commit"], "dirty": True}
    json.dumps(clean)


def test_a_file_in_the_place_of_a_folder_above_a_run_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "run", tmp_path / "file" / "deep" / "run"):
        with pytest.raises(StratagemError) as caught:
            RunFolder.create(path, Config(), 0, "stratagem train kuhn")
        assert str(caught.value) == f"{path} cannot be written: {tmp_path / 'file'} is a file and no folder."
