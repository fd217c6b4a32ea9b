"""Recorded episode as text for people."""

from __future__ import annotations

from collections.abc import Callable

from stratagem.api.transcript import transcript
from stratagem.cli.console import out
from stratagem.playing.records import Decision, Episode


def print_episode(episode: Episode, after: Callable[[Decision], None] | None = None) -> None:
    """Print the episode: seats, every action with its state, and payoffs; `after` is called after each action."""
    for line in transcript(episode, after):
        out.print(line)
