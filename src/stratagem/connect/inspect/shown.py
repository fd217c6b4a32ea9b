"""Episode as Markdown, for the transcript of a sample; it needs no inspect."""

from __future__ import annotations

import re

from stratagem.base.visible import visible
from stratagem.playing.records import Decision, Episode

_LONGEST = 200
"""Number of characters of a text in a table."""
_MARKS = re.compile(r"([\\`*_{}\[\]()<>#|~!&$])")


def playthrough(episode: Episode) -> str:
    """Write all moves of all seats in order, and the payoffs of each round."""
    lines = ["| round | seat | player | move | payoff |", "| --- | --- | --- | --- | --- |"]
    for row in episode.decisions:
        player = cell(episode.players[row.seat])
        lines.append(f"| {row.round + 1} | {row.seat} | {player} | {move(row)} | {row.payoff:+g} |")
    total = ", ".join(f"seat {seat} {payoff:+g}" for seat, payoff in enumerate(episode.payoffs))
    return "\n".join([*lines, "", f"Return: {total}"])


def move(row: Decision) -> str:
    """Write the action of a decision, or the reason why there is none."""
    return cell(row.action) if row.action is not None else f"no legal move ({row.how})"


def cell(text: str) -> str:
    """Write a text into a table: one line, in which nothing is markup or invisible."""
    line = " / ".join(text.splitlines())
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return _MARKS.sub(r"\\\1", visible(line))
