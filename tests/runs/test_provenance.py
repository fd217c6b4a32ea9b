"""What made a figure can be called again as it was called."""

import sys

import pytest

from stratagem.provenance import provenance


@pytest.mark.parametrize(
    ("called", "said"),
    [
        (["experiments/x.py", "--seeds", "3"], "python experiments/x.py --seeds 3"),
        (["/somewhere/experiments/x.py"], "python x.py"),
        (["/somewhere/bin/stratagem", "eval", "kuhn"], "stratagem eval kuhn"),
        (["-c", "train", "r.toml"], "stratagem train r.toml"),
    ],
)
def test_a_script_is_called_by_its_path_and_the_program_by_its_name(monkeypatch, called, said):
    monkeypatch.setattr(sys, "argv", called)
    assert provenance()["command"] == said
