"""Threads that wait for each other sleep soon, unless the user said otherwise."""

import json
import os
import subprocess
import sys

import pytest

from stratagem.playing.workers.threads import spin_briefly, use_threads

SPINNING = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
NAMES_THEM = """
import json, os, sys
from stratagem.cli.main import main
sys.argv = ["stratagem", "games"]
try:
    main()
finally:
    print(json.dumps([os.environ.get("GOMP_SPINCOUNT"), "torch" in sys.modules]))
"""


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    for name in (*SPINNING, "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    for name in SPINNING:
        monkeypatch.delenv(name)


def test_threads_spin_briefly_by_default():
    spin_briefly()
    assert os.environ["GOMP_SPINCOUNT"] == "1000"


@pytest.mark.parametrize(("name", "value"), [("GOMP_SPINCOUNT", "7"), ("OMP_WAIT_POLICY", "active")])
def test_what_the_user_said_stands(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    use_threads(1)
    assert {name: os.environ.get(name) for name in SPINNING} == {**dict.fromkeys(SPINNING), name: value}


def test_a_command_says_it_before_torch_is_imported():
    ended = subprocess.run([sys.executable, "-c", NAMES_THEM], capture_output=True, text=True, check=False)
    assert json.loads(ended.stdout.splitlines()[-1]) == ["1000", False]
