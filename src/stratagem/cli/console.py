"""Consoles of the command line for output and errors; all text goes through `visible`."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Iterable
from shutil import get_terminal_size
from types import TracebackType
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from stratagem.visible import visible


class VisibleConsole(Console):
    """Console without markup that sends a terminal no control but its own."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, soft_wrap=True, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of anything that is printed.

        Those of the console itself, such as colours, stay as they are.
        """
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


out = VisibleConsole(width=max(100, get_terminal_size().columns))
"""Width of piped output; a narrow terminal wraps lines, and nothing is cut."""
errors = VisibleConsole(stderr=True)


def use_error_console() -> None:
    """Print warnings and tracebacks of this process on the error console."""
    warnings.showwarning = _print_warning
    sys.excepthook = _print_traceback


def _print_warning(
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
