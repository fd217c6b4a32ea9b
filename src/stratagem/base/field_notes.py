"""Notes under the fields of a class: the strings below them in its source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache


def notes(cls: type) -> dict[str, str]:
    """Return the notes under the fields of a class and of its bases in this package, by field."""
    ours = [base for base in reversed(cls.__mro__) if base.__module__.startswith("stratagem.")]
    return {field: note for base in ours for field, note in _own_notes(base).items()}


@cache  # to find a class in its file, Python parses the whole file
def _own_notes(cls: type) -> dict[str, str]:
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except OSError:
        return {}  # an installation without sources
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            found[field.target.id] = " ".join(below.value.value.split())
    return found
