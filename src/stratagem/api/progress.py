"""Progress of long calls: a bar in a terminal or in a notebook, and elsewhere a line now and then.

A line is written at the first step after `FIRST_LINE` seconds, and then when the call has taken twice as long, or
`LONGEST_GAP` seconds more. So a log shows that a call works and how far it is, and a short call writes nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from stratagem.show.console import VisibleConsole

Step = Callable[[str], None]
"""Names the next item, and counts the one before."""
Show = Callable[[int, int, str], None]
"""Shows the number of steps that are done, the number of all, and a text."""


FIRST_LINE = 10.0
"""Seconds after which a call that is not in a terminal writes its first line."""
LONGEST_GAP = 300.0
"""Largest number of seconds between two lines of a call that goes on."""


@contextmanager
def show_progress(total: int, *, shown: bool = True) -> Iterator[Step]:
    """Show progress over a number of items."""
    done = -1

    def step(name: str) -> None:
        nonlocal done
        done += 1
        show(done, total, name)

    with bar("", total, shown=shown) as show:
        yield step


@contextmanager
def bar(name: str, total: int | None = None, *, shown: bool = True, remaining: bool = False) -> Iterator[Show]:
    """Show progress by tqdm in a notebook, by rich in a terminal, and in lines elsewhere."""
    console = VisibleConsole(stderr=True)
    if not shown:
        yield lambda done, steps, text: None
    elif _is_notebook():
        with _in_notebook(name, total) as show:
            yield show
    elif not console.is_terminal:
        yield show_in_lines(_QuietConsole(stderr=True))
    else:
        with _in_terminal(console, name, total, remaining) as show:
            yield show


class _QuietConsole(VisibleConsole):
    """Console that is silent once nobody reads it, where its base class ends the program."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


def show_in_lines(console: VisibleConsole) -> Show:
    """Return what writes a line of the error stream where one is due; a stream that takes none ends no call."""
    begun = time.monotonic()
    due = FIRST_LINE

    def show(done: int, steps: int, text: str) -> None:
        nonlocal due
        seconds = time.monotonic() - begun
        if seconds >= due:
            due = seconds + min(seconds, LONGEST_GAP)
            how_far = f"{done:,} of {steps:,}" if steps else f"{done:,}"
            try:
                console.print(f"{text}: {how_far} after {seconds:.0f} s", markup=False, highlight=False, soft_wrap=True)
            except OSError:  # such as a full disk
                console.quiet = True

    return show


@contextmanager
def _in_terminal(console: VisibleConsole, name: str, total: int | None, remaining: bool) -> Iterator[Show]:
    columns = [TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(
        *[*columns, *([TimeRemainingColumn()] if remaining else [])],
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task(name, total=total)
        yield lambda done, steps, text: progress.update(task, completed=done, total=steps, description=text)


@contextmanager
def _in_notebook(name: str, total: int | None) -> Iterator[Show]:
    from tqdm.auto import tqdm

    with tqdm(desc=name, total=total, leave=False) as progress:

        def show(done: int, steps: int, text: str) -> None:
            progress.total, progress.n = steps, done
            progress.set_description(text)

        yield show


def _is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook, with tqdm installed."""
    python: Any = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return getattr(shell, "kernel", None) is not None and find_spec("tqdm") is not None
