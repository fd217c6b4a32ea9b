"""An audit that is killed goes on, and asks nothing twice but what was open at the kill."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from forks import forked_command

AGENT = """
import time
from pathlib import Path


def act(question):
    with Path("asked.txt").open("a") as log:
        log.write(f"{question['episode']} {question['turn']} {question['attempt']}\\n")
    time.sleep(0.003)
    return question["choices"]["actions"][-1]
"""
COMMAND = [sys.executable, "-c", "from stratagem.cli.main import main; main()", "audit", "agent.py:act"]
OPTIONS = ["--games", "kuhn", "--decisions", "400", "--out", "audit"]


def audit(folder, **more):
    return subprocess.Popen(
        [*COMMAND, *OPTIONS], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more
    )


def asked(folder):
    log = folder / "asked.txt"
    return log.read_text().splitlines() if log.exists() else []


DOOMED = """
import os, signal
from pathlib import Path


def act(question):
    with Path("asked.txt").open("a") as log:
        log.write(f"{question['episode']} {question['turn']} {question['attempt']}\\n")
    if Path("killed").exists() and len(Path("asked.txt").read_text().splitlines()) == 60:
        os.kill(os.getpid(), signal.SIGKILL)
    return question["choices"]["actions"][-1]
"""


@pytest.mark.runs
def test_an_audit_that_is_killed_once_asks_nothing_twice(tmp_path):
    """The short form of the next test: the agent kills its process at the sixtieth question."""
    folders = tmp_path / "whole", tmp_path / "killed"
    for folder in folders:
        folder.mkdir()
        (folder / "agent.py").write_text(DOOMED)
    whole, killed = folders
    (killed / "killed").touch()
    words = ["audit", "agent.py:act", *OPTIONS]
    ends = [forked_command(*words, work=folder, scratch=tmp_path) for folder in (whole, killed, killed)]
    assert [status for status, _ in ends] == [0, -signal.SIGKILL, 0], ends[2]
    again = Counter(asked(killed)) - Counter(asked(whole))
    assert 1 <= again.total() <= 2
    same(whole, killed)


def same(whole, killed):
    assert not Counter(asked(whole)) - Counter(asked(killed))
    cards = [json.loads((folder / "audit" / "card.json").read_text()) for folder in (whole, killed)]
    assert cards[0]["figures"] == cards[1]["figures"]


@pytest.mark.long
def test_a_killed_audit_asks_nothing_twice(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        (folder / "agent.py").write_text(AGENT)
    assert audit(whole).wait(120) == 0
    for target in (60, 200, 290):
        process = audit(killed, start_new_session=True)
        until = time.monotonic() + 60
        while len(asked(killed)) < target and time.monotonic() < until and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert audit(killed).wait(120) == 0
    again = Counter(asked(killed)) - Counter(asked(whole))
    assert again.total() <= 3 * 2  # one open at each kill, and one whose answer was not on disk
    same(whole, killed)
