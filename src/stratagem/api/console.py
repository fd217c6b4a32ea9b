"""Console on which no text of others is obeyed: all text goes through `visible`."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from shutil import get_terminal_size
from typing import IO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from stratagem.visible import visible

_NARROWEST = 100


class VisibleConsole(Console):
    """Console without markup that sends a terminal no control but its own."""

    def __init__(self, *, stderr: bool = False, width: int | None = None, file: IO[str] | None = None) -> None:
        colour = None if file is not None else "auto"
        super().__init__(  # a file gets plain text, whatever the environment says of colours
            stderr=stderr,
            width=width,
            file=file,
            force_terminal=False if file is not None else None,
            color_system=colour,  # type: ignore[arg-type]
            soft_wrap=True,
            markup=False,
            emoji=False,
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of anything that is printed.

        Those of the console itself, such as colours, stay as they are.
        """
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def width() -> int:
    """Return the width of output; a narrow terminal wraps lines, and nothing is cut."""
    return max(_NARROWEST, get_terminal_size().columns)


def plain(*printed: RenderableType) -> str:
    """Return what a console would print, without colours."""
    text = StringIO()
    console = VisibleConsole(width=width(), file=text)
    for one in printed:
        console.print(one, highlight=False)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())
