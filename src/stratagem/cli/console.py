"""The two consoles of the command line. Whatever is printed goes through `visible`, whoever has written it."""

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
    """A console without markup that sends a terminal no control but its own."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, soft_wrap=True, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of anything that is printed; those of the console itself, such as colours, stay as they are."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


out = VisibleConsole(width=max(100, get_terminal_size().columns))
"""A table of figures may be wider still: a narrow terminal wraps its lines, and nothing is cut."""
errors = VisibleConsole(stderr=True)


def tell_on_errors() -> None:
    """Let warnings and tracebacks of this process go through the console of errors too."""
    warnings.showwarning = _warned
    sys.excepthook = _raised


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning is a sentence: in which file and line of a library it was given helps nobody."""
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning | ImportWarning | ResourceWarning):
        errors.print(f"warning: {message}", style="yellow", highlight=False)


def _raised(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    errors.print("".join(traceback.format_exception(kind, error, trace)), highlight=False)
