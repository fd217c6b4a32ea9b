"""Phases of a recorded game of Diplomacy: each position as a decision's state key has it, and the orders there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby

from stratagem.games.bounded import make_bounded_game
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.diplomacy.position import BoardPosition
from stratagem.games.talk import without_talk
from stratagem.playing.records import Decision, Episode


def game_of(episode: Episode) -> Diplomacy:
    """Make the game that was played, without its talk."""
    game = without_talk(make_bounded_game(episode.game))
    assert isinstance(game, Diplomacy)
    return game


def phases(episode: Episode) -> Iterator[tuple[BoardPosition, list[Decision]]]:
    """Yield each phase in which somebody was asked: its position, and the orders played."""
    for _, rows in groupby(episode.decisions, key=lambda row: row.turn):
        last = list({row.seat: row for row in rows}.values())  # of several attempts, the last was played
        position, said = _position_of(last[0].state_key)
        if not said.startswith(" talk "):
            yield position, last


def _position_of(state_key: str) -> tuple[BoardPosition, str]:
    """Return the position in a state key, and what talk has written after it."""
    text = state_key.partition(" ")[2]
    end = json.JSONDecoder().raw_decode(text)[1]
    return BoardPosition(text[:end]), text[end:]


def movements(episode: Episode) -> Iterator[tuple[BoardPosition, list[Decision]]]:
    """Yield the movement phases alone."""
    return (phase for phase in phases(episode) if phase[0].kind == "M")
