"""The command of a figure can be called again as it was called."""

import sys

import pytest

from stratagem.base.provenance import provenance, source


@pytest.mark.parametrize(
    ("called", "said"),
    [
        (["experiments/x.py", "--seeds", "3"], "python experiments/x.py --seeds 3"),
        (["/somewhere/experiments/x.py"], "python x.py"),
        (["/somewhere/bin/stratagem", "eval", "kuhn"], "stratagem eval kuhn"),
        (["/somewhere/stratagem/__main__.py", "eval", "kuhn"], "stratagem eval kuhn"),
        (["-c", "train", "r.toml"], "stratagem train r.toml"),
        (["stratagem", "eval", "ipd(rounds=3)", "--seed", "1"], "stratagem eval 'ipd(rounds=3)' --seed 1"),
    ],
)
def test_a_script_is_called_by_its_path_and_the_program_by_its_name(monkeypatch, called, said):
    monkeypatch.setattr(sys, "argv", called)
    assert provenance()["command"] == said


def test_provenance_names_the_commit_and_whether_the_tree_differs_from_it():
    assert {name: provenance()[name] for name in ("commit", "dirty")} == source()
