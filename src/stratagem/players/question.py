"""Question that an agent outside of this program is asked: a seat's turn as JSON, in texts and in data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from typing import Any

from stratagem.engines.remote.replies import sound
from stratagem.games.base import Json, View
from stratagem.games.catalogue import describe
from stratagem.games.choices import Choices, Flat, Sheet
from stratagem.games.disguise import DisguisedView
from stratagem.players.base import Ask
from stratagem.prompting.past import Past

_LISTED = 1000
"""Largest number of actions that are listed where they are neither a set nor a sheet."""
_SEED_BITS = 0x7FFF_FFFF


def question(ask: Ask) -> str:
    """Return the question of a turn; equal turns have equal questions."""
    view = ask.view
    content = {
        "type": "decision",
        "episode": ask.episode,
        "turn": ask.turn,
        "attempt": ask.attempt,
        "seat": view.seat,
        "seats": view.game.spec.seats,
        **_named(view),
        "rules": view.rules,
        "situation": view.situation,
        "choices": choices_data(view.choices),
        "memory": _memory(ask.past),
        "seed": ask.key.at("agent").value & _SEED_BITS,
    }
    return sound(json.dumps(content, ensure_ascii=False))


def _named(view: View[Any]) -> Json:
    """Return the game by name and what the seat knows as data; under a disguise both would tell what it hides."""
    if isinstance(view, DisguisedView):
        return {"game": None, "facts": None}
    return {"game": describe(view.game), "facts": data_of(view.facts)}


def choices_data(choices: Choices) -> Json:
    """Return the legal actions as data."""
    if isinstance(choices, Sheet):
        slots = [{"name": slot.name, "options": list(slot.options)} for slot in choices.slots]
        return {"kind": "sheet", "fill": choices.fill, "slots": slots}
    if isinstance(choices, Flat) or (choices.count <= _LISTED and not choices.is_open):
        return {"kind": "set", "actions": list(choices)}
    return {"kind": "text", "summary": choices.summary()}


def _memory(past: Past) -> Json:
    """Return the memory of earlier episodes, whose counts may be empty."""
    counts = [{"actions": list(joint), "times": times} for joint, times in past.counts.items()]
    return {"rounds": past.rounds, "counts": counts, "last": None if past.last is None else list(past.last)}


def data_of(value: Any) -> Any:
    """Return facts as JSON data: records by the names of their fields, and anything unknown as a text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: data_of(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: data_of(item) for name, item in zip(value._fields, value, strict=True)}
    if isinstance(value, Mapping):
        return {str(key): data_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [data_of(item) for item in value]
    if isinstance(value, Set):
        return sorted((data_of(item) for item in value), key=repr)
    return str(value)
