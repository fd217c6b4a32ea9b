"""The notebooks run from top to bottom, and are stored without outputs."""

import ast
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def code_of(name):
    cells = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def shown(source, names):
    """Run a cell; return what a notebook shows of the expression at its end."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


def test_the_notebooks_are_those_of_the_page():
    assert NAMES == ["measure", "own_game", "train"]


@pytest.mark.parametrize("name", NAMES)
def test_notebook_has_no_outputs(name):
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in code_of(name))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name == "train")) for name in NAMES])
def test_notebook_runs_from_top_to_bottom(name, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    outputs = [shown("".join(cell["source"]), names) for cell in code_of(name)]
    assert any(text and "<table" in text for text in outputs)
