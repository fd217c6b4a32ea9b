"""Consoles of the command line for output and errors; all text goes through `visible`."""

from __future__ import annotations

import logging
import sys
import traceback
import warnings
from types import TracebackType
from typing import TextIO

from stratagem.base.visible import VisibleFormatter
from stratagem.show.console import VisibleConsole, width

out = VisibleConsole(width=width())
errors = VisibleConsole(stderr=True)


def use_error_console() -> None:
    """Print warnings and tracebacks of this process on the error console, and spell what libraries log there."""
    warnings.showwarning = print_warning
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter())
    sys.excepthook = _print_traceback


def print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as a sentence, without the file and line of a library."""
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning | ImportWarning | ResourceWarning):
        errors.print(f"warning: {message}", style="yellow", highlight=False)


def _print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    errors.print("".join(traceback.format_exception(kind, error, trace)), highlight=False)
