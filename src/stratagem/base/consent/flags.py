"""Sentences of consent in the words of the command line.

They are their own module, since the viewer below the command line says them, too.
"""

from __future__ import annotations

import ast
import re
import shlex

from stratagem.base.consent.table import kind_of

CALL = re.compile(r"""`sg\.(?P<name>allow|trust)\((?P<value>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)`""")
"""Function of consent in a sentence."""


def with_flags(sentence: str) -> str:
    """Return a sentence with `--allow-...` and `stratagem trust` in place of the functions of Python."""
    return CALL.sub(flag, sentence)


def flag(found: re.Match[str]) -> str:
    """Return how the command line says `sg.allow` or `sg.trust` of a thing."""
    value = str(ast.literal_eval(found["value"]))
    said = shlex.quote(value)
    return f"`stratagem trust {said}`" if found["name"] == "trust" else f"--allow-{kind_of(value)} {said}"
