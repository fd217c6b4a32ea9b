"""Systems without what only Linux has: the stand-in for macOS, the answer to Windows, and the first lines of make."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import like_macos
from forks import forked_program
from stratagem.base.garbage import resident_memory
from stratagem.games.spiel.trial import try_game

ROOT = Path(__file__).parents[1]
PROGRAM = """
import os, sys
sys.path.insert(0, {tests!r})
import like_macos
like_macos.pretend()
assert not hasattr(os, "sched_getaffinity")
from stratagem.base import garbage
from stratagem.playing.workers.threads import available_threads
assert not garbage.has_proc()
assert available_threads() == os.cpu_count()
import stratagem as sg
print(sg.play("ipd(rounds=2)", ["TitForTat", "AlwaysDefect"], episodes=4))
"""


def test_players_meet_without_what_only_linux_has(tmp_path):
    source = PROGRAM.format(tests=str(ROOT / "tests"))
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "TitForTat" in done.stdout


def test_stand_in_hides_proc_from_the_package_alone(tmp_path):
    source = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r})\n"
        "import like_macos; like_macos.pretend()\n"
        "from pathlib import Path\n"
        "from stratagem.base.garbage import has_proc\n"
        "print(Path('/proc/self/statm').exists(), has_proc())\n"
    )
    status, printed = forked_program(source, tmp_path, work=tmp_path, scratch=tmp_path)
    assert (status, printed.split()) == (0, ["True" if sys.platform == "linux" else "False", "False"])


def test_memory_of_a_process_is_that_of_ps(monkeypatch):
    expected = resident_memory(os.getpid())
    monkeypatch.setattr("stratagem.base.garbage.Path.read_text", lambda *_: (_ for _ in ()).throw(OSError()))
    monkeypatch.setattr("stratagem.base.garbage.has_proc", lambda: False)
    assert resident_memory(os.getpid()) == pytest.approx(expected, rel=0.1)
    assert resident_memory(2**22 + 1) == 0


def test_game_that_needs_too_much_memory_is_ended_where_the_system_sets_no_limit(monkeypatch):
    monkeypatch.setattr("stratagem.games.spiel.trial.RESIDENT", 1 << 20)
    monkeypatch.setattr("stratagem.games.spiel.trial.PAUSE", 0.01)
    try_game.cache_clear()
    assert not try_game("hex(board_size=11)").passed
    try_game.cache_clear()


def test_windows_is_answered_with_one_sentence(tmp_path):
    source = "import sys; sys.path.insert(0, {!r}); sys.platform = 'win32'; import stratagem"
    done = subprocess.run(
        [sys.executable, "-c", source.format(str(ROOT / "src"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: Stratagem runs on Linux and macOS: on Windows, install it inside WSL."
    )


def test_names_that_differ_by_case_are_found(tmp_path):
    for name in ("a/Best", "a/best", "b/best"):
        (tmp_path / name).mkdir(parents=True)
    assert {Path(name).name for name in like_macos.names_that_differ_by_case(tmp_path)} == {"Best", "best"}
    assert len(list(like_macos.names_that_differ_by_case(tmp_path / "b"))) == 0


def test_make_names_the_python_that_is_needed(tmp_path):
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run(
        ["make", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}", "check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Stratagem needs Python 3.11 or later" in done.stdout
    assert "make PYTHON=python3.12" in done.stdout


@pytest.mark.parametrize("word", [".ONESHELL", ".SHELLFLAGS", "$(file ", "private ", "nproc", "readlink -f", "sed -i "])
def test_makefile_uses_what_make_3_81_and_bsd_tools_have(word):
    assert word not in (ROOT / "Makefile").read_text("utf-8")
