"""The notebooks run from top to bottom, and show what is stored in them."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
import notebooks

NAMES = notebooks.notebook_names()
TRAINED = "train"
"""Notebook whose figures are those of a training, which differ in last digits between processors."""


def stored_outputs(name):
    cells = notebooks.read_notebook(name)["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def kinds(outputs):
    return [[sorted(shown.get("data", shown)) for shown in cell] for cell in outputs]


def test_the_notebooks_are_those_of_the_page():
    assert NAMES == ["atlas", "measure", "own_game", TRAINED]


@pytest.mark.parametrize("name", NAMES)
def test_notebook_is_stored_with_its_outputs(name):
    cells = [cell for cell in notebooks.read_notebook(name)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    text = json.dumps(stored_outputs(name))
    assert "<table" in text
    assert "/tmp" not in text


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name == TRAINED)) for name in NAMES])
def test_notebook_shows_what_is_stored(name, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("plotly")
    monkeypatch.chdir(notebooks.lay_out(tmp_path))
    outputs = list(notebooks.run_cells(notebooks.read_notebook(name)))
    if name == TRAINED:
        assert kinds(outputs) == kinds(stored_outputs(name))
    else:
        assert outputs == stored_outputs(name)


def test_a_cell_shows_what_it_prints_and_its_last_expression(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    cells = [{"cell_type": "code", "source": [source]} for source in ("print('a')\n1 + 1", "x = 3", "None")]
    (tmp_path / "small.ipynb").write_text(json.dumps({"cells": cells}))
    notebooks.main([])
    printed, *silent = stored_outputs("small")
    assert [shown.get("text") for shown in printed] == [["a\n"], None]
    assert printed[1]["data"] == {"text/plain": ["2"]}
    assert silent == [[], []]
