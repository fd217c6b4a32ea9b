"""Stratagem trains language models to play strategic games, and measures what they really learnt.

`import stratagem as sg` offers functions that take games and players by name or as objects, and load the libraries that
they need when they are called.
"""

import sys
from importlib import import_module
from typing import Any

if sys.platform == "win32":  # locks are those of POSIX
    raise ImportError("Stratagem runs on Linux and macOS: on Windows, install it inside WSL.")

from stratagem.api import FUNCTIONS, load_function
from stratagem.base.moved import answer_old_names

__version__ = "0.3.0"

__all__ = ["StratagemError", "__version__", *FUNCTIONS]


def __getattr__(name: str) -> Any:
    if name in ("games", "players"):
        return import_module(f"{__name__}.{name}")
    if name == "StratagemError":
        found = import_module(f"{__name__}.base.errors").StratagemError
    elif name in FUNCTIONS:
        found = load_function(name)
    else:
        from stratagem.base.renamed.names import RENAMED_FUNCTIONS, find_renamed

        return find_renamed(sys.modules[__name__], name, RENAMED_FUNCTIONS)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


answer_old_names()
