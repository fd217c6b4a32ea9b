"""Episode as Markdown, for the transcript of a sample; it needs no inspect."""

from __future__ import annotations

from stratagem.playing.records import Decision, Episode
from stratagem.show.markdown import escape_cell


def playthrough(episode: Episode) -> str:
    """Write all moves of all seats in order, and the payoffs of each round."""
    lines = ["| round | seat | player | move | payoff |", "| --- | --- | --- | --- | --- |"]
    for row in episode.decisions:
        player = escape_cell(episode.players[row.seat])
        lines.append(f"| {row.round + 1} | {row.seat} | {player} | {move(row)} | {row.payoff:+g} |")
    total = ", ".join(f"seat {seat} {payoff:+g}" for seat, payoff in enumerate(episode.payoffs))
    return "\n".join([*lines, "", f"Return: {total}"])


def move(row: Decision) -> str:
    """Write the action of a decision, or the reason why there is none."""
    return escape_cell(row.action) if row.action is not None else f"no legal move ({row.how})"
