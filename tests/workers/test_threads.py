"""Threads that wait for each other sleep soon, unless the user said otherwise."""

import json
import os
import subprocess
import sys

import pytest

from stratagem.playing.workers.threads import available_threads, spin_briefly, threads, use_threads

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


@pytest.mark.parametrize("stated", ["", "0", "many"])
def test_cores_are_counted_where_no_number_is_stated(stated, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", stated)
    monkeypatch.setattr("stratagem.playing.workers.threads.count_cores", lambda: 6)
    assert available_threads() == 6


def test_number_of_threads_holds_within_alone(monkeypatch):
    """The last bits of a forward pass depend on it."""
    torch = pytest.importorskip("torch")
    monkeypatch.delenv("MKL_NUM_THREADS")
    before = torch.get_num_threads()
    with threads(before + 2):
        assert torch.get_num_threads() == before + 2
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == str(before + 2)
    assert torch.get_num_threads() == 1, "that of OMP_NUM_THREADS"
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert "MKL_NUM_THREADS" not in os.environ
