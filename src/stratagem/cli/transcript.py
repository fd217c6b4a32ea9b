"""A recorded episode as a person reads it."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import groupby

from rich.text import Text

from stratagem.cli.output import number, out
from stratagem.games.base import Json
from stratagem.play.records import Decision, Episode


def episode_json(episode: Episode) -> Json:
    """What was played, as JSON; the calls behind it stay in the record, being many times as long."""
    decisions = [replace(row, calls=()) for row in episode.decisions]
    told = asdict(replace(episode, decisions=decisions))
    for row in told["decisions"]:
        del row["calls"]
    return told


def tell(episode: Episode) -> None:
    """Print the episode: who sat where, every action with what its seat looked at, and what was paid."""
    out.print(Text(f"{episode.game}, {episode.id}", style="bold"))
    for seat, name in enumerate(episode.players):
        out.print(Text(f"  seat {seat}: {name}"))
    paid = iter(episode.rounds)
    for index, rows in groupby(episode.decisions, key=lambda row: row.round):
        _tell_round(index, list(rows), next(paid, None))
    ended = "in all" if episode.finished else "so far"
    out.print(Text(f"  paid {ended}: {_by_seat(episode.payoffs)}\n", style="green"))


def _tell_round(index: int, rows: list[Decision], paid: tuple[float, ...] | None) -> None:
    out.print(Text(f"  round {index + 1}"))
    for row in rows:
        out.print(_told(row))
    if paid is not None:
        out.print(Text(f"    pays {_by_seat(paid)}", style="green"))


def _told(row: Decision) -> Text:
    line = Text(f"    seat {row.seat}")
    if "\n" not in row.state_key:
        line.append(f" ({row.state_key})", style="dim")
    if row.action is not None:
        return line.append(f": {row.action}" + ("" if row.how == "scripted" else f" ({row.how})"))
    return line.append(f": {row.how}, {row.said or 'said nothing'}", style="red")


def _by_seat(payoffs: tuple[float, ...] | list[float]) -> str:
    return ", ".join(f"seat {seat} {number(pay, 2)}" for seat, pay in enumerate(payoffs))
