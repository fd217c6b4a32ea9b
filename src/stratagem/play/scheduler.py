"""Scheduler: one deterministic loop for every game; all tables advance together, with one batch of open requests.

What a table does follows from its setup alone, so it does not matter which other tables are played beside it, in what
order, or in which process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from stratagem.engines.base import Call, Request, answer
from stratagem.errors import BadParameter
from stratagem.play.match import Setup
from stratagem.play.records import Episode
from stratagem.play.table import Table

Answer = Callable[[Sequence[Request]], Sequence[Call]]
"""Function that answers a batch of requests, in order."""


def play(
    setups: Iterable[Setup], answer: Answer = answer, *, live: int = 256, detail: bool = True
) -> Iterator[Episode]:
    """Play every setup and yield its episode when it is over; at most `live` tables are open at a time.

    Without `detail` episodes hold totals only, no decisions.
    """
    if live < 1:
        raise BadParameter(f"At least one table must be open at a time: `live` cannot be {live}.")
    waiting: list[Table] = []
    for setup in setups:
        table = Table(setup, detail=detail)
        if table.advance():
            yield table.episode
            continue
        waiting.append(table)
        while len(waiting) >= live:
            waiting, over = _answered(waiting, answer)
            yield from over
    while waiting:
        waiting, over = _answered(waiting, answer)
        yield from over


def played(setups: Iterable[Setup], answer: Answer = answer) -> list[Episode]:
    """Return every episode, in the order of the setups; each has an id of its own."""
    asked = list(setups)
    if twice := [name for name, count in Counter(setup.id for setup in asked).items() if count > 1]:
        raise BadParameter(
            f"Two episodes are called {twice[0]!r}, and one would be lost: give each an `id` of its own."
        )
    episodes = {episode.id: episode for episode in play(asked, answer)}
    return [episodes[setup.id] for setup in asked]


def _answered(tables: list[Table], answer: Answer) -> tuple[list[Table], list[Episode]]:
    """Answer every open request of these tables in one batch and let them go on."""
    asked = [(table, seat, request) for table in tables for seat, request in table.requests()]
    completions = answer([request for _, _, request in asked])
    if len(completions) != len(asked):
        raise ValueError(f"{len(asked)} requests were answered with {len(completions)} completions")
    for (table, seat, _), completion in zip(asked, completions, strict=True):
        table.answer(seat, completion)
    still, over = [], []
    for table in tables:
        if table.advance():
            over.append(table.episode)
        else:
            still.append(table)
    return still, over
