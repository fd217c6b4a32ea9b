"""The command in a record can be typed again, and holds no folder of a machine."""

import sys

import pytest

from stratagem.provenance import provenance


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("/home/me/.venv/bin/stratagem", "stratagem"),
        ("/home/me/src/stratagem/__main__.py", "stratagem"),
        ("experiments/collapse.py", "python experiments/collapse.py"),
        ("/home/me/project/experiments/collapse.py", "python collapse.py"),
    ],
)
def test_the_command_can_be_typed_again(program, command, monkeypatch):
    monkeypatch.setattr(sys, "argv", [program, "eval", "a game", "--seed", "1"])
    assert provenance()["command"] == f"{command} eval 'a game' --seed 1"
