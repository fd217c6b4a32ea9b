"""Progress of long calls: a bar in a terminal or in a notebook, and nothing elsewhere."""

from __future__ import annotations

import sys
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
    """Show progress by tqdm in a notebook, and by rich in a terminal."""
    with _in_notebook(name, total) if shown and _is_notebook() else _in_terminal(name, total, shown, remaining) as show:
        yield show


@contextmanager
def _in_terminal(name: str, total: int | None, shown: bool, remaining: bool) -> Iterator[Show]:
    console = VisibleConsole(stderr=True)
    columns = [TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(
        *[*columns, *([TimeRemainingColumn()] if remaining else [])],
        console=console,
        transient=True,
        disable=not (shown and console.is_terminal),
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
