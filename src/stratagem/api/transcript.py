"""Transcript: a played or recorded episode, turn by turn, as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from stratagem.playing.records import Decision, Episode
from stratagem.show.cells import number
from stratagem.show.console import VisibleText
from stratagem.show.html import element
from stratagem.show.table import ResultTable, text_table

_SHORT = 100
"""Length beyond which a state is not printed: it may be a whole board."""
_PLAIN = ("scripted", "free")
"""Ways of making an action that a line does not name: nothing was limited or read otherwise."""
_BAR = "\n      │ "
"""Beginning of the further lines of a text, which then cannot pass for lines of the transcript."""


class Transcript(str):
    """Text that is shown as it is, also where a program shows the value of an expression."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return element("pre", self)


def episode_table(folder: Path, episodes: Sequence[Episode], total: int) -> ResultTable:
    """Return the table of the first episodes of a record, which has so many."""
    rows = [
        (str(place), e.id, ", ".join(e.players), str(len(e.rounds)), " ".join(number(pay, 2) for pay in e.payoffs))
        for place, e in enumerate(episodes, 1)
    ]
    return text_table(
        f"{folder}: {total} episode{'s' * (total != 1)}", ("number", "id", "players", "rounds", "payoffs"), rows
    )


def transcript(episode: Episode, after: Callable[[Decision], None] | None = None) -> Iterator[VisibleText]:
    """Yield the lines of an episode: seats, every action with its state, and payoffs.

    `after` is called once the line of an action is taken.
    """
    yield VisibleText(_add_bar(f"{episode.game}, {episode.id}"), style="bold")
    for seat, name in enumerate(episode.players):
        yield VisibleText(f"  seat {seat}: {_add_bar(name)}")
    rewards = iter(episode.rounds)
    for index, rows in groupby(episode.decisions, key=lambda row: row.round):
        yield VisibleText(f"  round {index + 1}")
        for row in rows:
            yield _line(row)
            if after is not None:
                after(row)
        if (paid := next(rewards, None)) is not None:
            yield VisibleText(f"    payoff: {_by_seat(paid)}", style="green")
    title = "return" if episode.finished else "return so far"
    yield VisibleText(f"  {title}: {_by_seat(episode.payoffs)}\n", style="green")


def _line(row: Decision) -> VisibleText:
    line = VisibleText(f"    seat {row.seat}")
    if "\n" not in row.state_key and len(row.state_key) <= _SHORT:
        line.append(f" ({row.state_key})", style="dim")
    if row.action is not None:
        text = "".join(_parts(row)) if row.parts else f": {_add_bar(row.action)}"
        return line.append(text + ("" if row.how in _PLAIN else f" ({row.how})"))
    return line.append(f": {row.how}, {_add_bar(row.said or 'no reply')}", style="red")


def _add_bar(text: str) -> str:
    return text.replace("\n", _BAR)


def _parts(row: Decision) -> Iterator[str]:
    """Describe every piece of an action with its result and reward."""
    lines = (row.action or "").split("\n")
    pieces = [part for part in row.parts if part.slot]
    named = zip(lines, pieces, strict=False) if len(lines) == len(pieces) else ((p.slot, p) for p in pieces)
    for data, part in named:
        yield f"\n      {data}: {part.kind} {part.reward:+g}"
    for part in row.parts:
        if not part.slot:
            yield f"\n      {part.kind} {part.reward:+g}"


def _by_seat(payoffs: tuple[float, ...] | list[float]) -> str:
    return ", ".join(f"seat {seat} {number(pay, 2)}" for seat, pay in enumerate(payoffs))
