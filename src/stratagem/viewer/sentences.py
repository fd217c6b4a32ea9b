"""Errors in the words of a page, where nobody can call a function of Python."""

from __future__ import annotations

import ast
import re
import shlex

_ALONE = "name one with `episode`"
_ALLOWING = re.compile(r"add `sg\.allow_file\((?P<file>['\"][^`]*['\"])\)`")


def sentence_of(error: Exception) -> str:
    """Return the sentence of an error; a file is allowed by an option of the command that shows the pages."""
    return _ALLOWING.sub(_option, str(error)).replace(_ALONE, "open a game, and export it alone")


def reason_of(error: Exception) -> str:
    """Return what an error of foreign code says, as the end of a sentence."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")


def _option(found: re.Match[str]) -> str:
    file = str(ast.literal_eval(found["file"]))
    return f"start `stratagem view` again with `--allow-file {shlex.quote(file)}`"
