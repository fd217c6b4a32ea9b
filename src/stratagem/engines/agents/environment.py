"""Environment of an agent's process: what programs need to run, and what the user names; no secrets."""

from __future__ import annotations

import os
from collections.abc import Sequence

from stratagem.errors import BadParameter

PASSED = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "PYTHONPATH",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
)
"""Variables that every process gets."""


def environment(named: Sequence[str]) -> dict[str, str]:
    """Return the variables of a process: those that it needs, and those that the user names."""
    if missing := [name for name in named if name not in os.environ]:
        raise BadParameter(
            f"The environment has no {missing[0]}, which `env` passes on to an agent: set it, or leave it out."
        )
    return {name: os.environ[name] for name in (*PASSED, *named) if name in os.environ}
