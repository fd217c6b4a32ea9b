"""Stratagem trains language models to play strategic games, and measures what they really learnt.

`import stratagem as sg` offers functions that take games and players by name or as objects, and load the libraries that
they need when they are called.
"""

import sys
from typing import Any

if sys.platform == "win32":  # locks are those of POSIX
    raise ImportError("Stratagem runs on Linux and macOS: on Windows, install it inside WSL.")

from stratagem.base.moved import answer_old_names
from stratagem.front import FUNCTIONS, Front, attribute

__version__ = "0.2.0"

__all__ = ["StratagemError", "__version__", *FUNCTIONS]


def __getattr__(name: str) -> Any:
    found = attribute(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


sys.modules[__name__].__class__ = Front
answer_old_names()
