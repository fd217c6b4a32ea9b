"""Outputs of the notebooks: `python docs/notebooks.py [NAME ...]` runs them and stores what each cell shows.

A cell's output is what a notebook would show: what it prints, and the expression at its end as HTML, as a figure of
plotly, or as text. `train` takes a minute.
"""

from __future__ import annotations

import ast
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
PLOTLY = "application/vnd.plotly.v1+json"
"""Kind of an output that a notebook draws by plotly."""


def notebook_names() -> list[str]:
    """Return the names of the notebooks."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def read_notebook(name: str) -> dict[str, Any]:
    """Read a notebook."""
    return dict(json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8")))


def run_cells(notebook: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Run the cells of code from top to bottom, in the current folder, and yield the outputs of each."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            tree.body.pop()
        printed = io.StringIO()
        value = None
        with redirect_stdout(printed):
            exec(compile(tree, "cell", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        streams = [{"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())}]
        results = [
            {"data": _shown(value), "execution_count": number + 1, "metadata": {}, "output_type": "execute_result"}
        ]
        yield streams * bool(printed.getvalue()) + results * (value is not None)


def _shown(value: Any) -> dict[str, Any]:
    """Return the forms in which a notebook shows a value."""
    if hasattr(value, "to_plotly_json"):
        return {PLOTLY: json.loads(value.to_json()), "text/plain": [type(value).__name__]}
    html = {"text/html": _lines(value._repr_html_())} if hasattr(value, "_repr_html_") else {}
    return {**html, "text/plain": _lines(repr(value))}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def lay_out(folder: Path) -> Path:
    """Return the folder of the notebooks within a new one that has the pages where a clone has them."""
    own = folder / "examples" / "notebooks"
    own.mkdir(parents=True)
    (folder / "docs").symlink_to(FOLDER.parents[1] / "docs")
    return own


def store_outputs(name: str) -> None:
    """Run a notebook in a new folder, and store its outputs."""
    notebook, here = read_notebook(name), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(lay_out(Path(folder)))
        try:
            outputs = list(run_cells(notebook))
        finally:
            os.chdir(here)
    cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    for number, (cell, shown) in enumerate(zip(cells, outputs, strict=True)):
        cell["execution_count"], cell["outputs"] = number + 1, shown
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.ipynb").write_text(text + "\n", "utf-8")


def main(chosen: Sequence[str]) -> None:
    """Store the outputs of the chosen notebooks, or of all."""
    for name in chosen or notebook_names():
        store_outputs(name)
        print(f"{name}: {(FOLDER / f'{name}.ipynb').stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
