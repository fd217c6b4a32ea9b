"""The runner of experiments: it makes runs from a clean commit alone, and those that are not there yet."""

import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from stratagem import provenance

runs = import_module("runs")


@dataclass(frozen=True)
class Writes(runs.Run):
    """A run that is a line of Python in the place of hours."""

    def command(self, folder):
        last = folder / self.name / self.ends_with
        return [sys.executable, "-c", f"open({str(last)!r}, 'a').write('x')"]


def git(folder, *arguments):
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", folder, *arguments], check=True, capture_output=True)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A committed program in a repository of its own, which the runner takes for the one that runs."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "__init__.py").write_text("RULE = 1\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Add the program")
    monkeypatch.setattr(runs, "source", lambda: provenance.source.__wrapped__(folder))
    return folder


def planned(folder):
    (folder / "a-0").mkdir(parents=True)
    return Writes("a-0", (Path("a.toml"),))


def test_make_runs_from_a_clean_commit_and_passes_over_what_is_finished(program, tmp_path):
    run = planned(tmp_path / "out")
    runs.make([run], tmp_path / "out")
    runs.make([run], tmp_path / "out")
    assert (tmp_path / "out/a-0/evaluation.json").read_text() == "x"


@pytest.mark.parametrize(("name", "text"), [("__init__.py", "RULE = 2\n"), ("new.py", "RULE = 1\n")])
def test_make_refuses_a_tree_with_changes(program, tmp_path, name, text):
    (program / name).write_text(text)
    with pytest.raises(SystemExit, match=r"no clean commit .*: commit first, or run from a clean clone"):
        runs.make([planned(tmp_path / "out")], tmp_path / "out")
    assert not (tmp_path / "out/a-0/evaluation.json").exists()


def test_make_refuses_a_program_that_git_does_not_keep(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "source", lambda: provenance.source.__wrapped__(tmp_path))
    with pytest.raises(SystemExit, match="no clean commit"):
        runs.make([planned(tmp_path / "out")], tmp_path / "out")
    assert not (tmp_path / "out/a-0/evaluation.json").exists()
