"""Console on which no text of others is obeyed: all text goes through `visible`."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from shutil import get_terminal_size
from typing import IO, Any, Self

from rich import text as rich_text
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style

from stratagem.base.visible import visible

_NARROWEST = 100


class VisibleText(rich_text.Text):
    """Text that spells invisible characters; the base class drops some of them, such as BEL, without a word."""

    def __init__(self, text: str = "", style: str | Style = "", **more: Any) -> None:
        super().__init__(visible(text), style, **more)

    def append(self, text: rich_text.Text | str, style: str | Style | None = None) -> Self:
        """Add text with an optional style."""
        super().append(visible(text) if isinstance(text, str) else text, style)
        return self


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

    def render_str(self, text: str, **options: Any) -> rich_text.Text:
        """Make the text of a string, before the base class drops characters of it."""
        return super().render_str(visible(text), **options)


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
