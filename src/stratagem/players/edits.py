"""Small changes of an action: one line of a sheet, or another action where actions have no parts."""

from __future__ import annotations

from stratagem.games.choices import Choices, Flat, Sheet
from stratagem.games.key import Key


def change_action(action: str, choices: Choices, key: Key) -> str:
    """Draw an action near another one: a sheet with another line in one slot; any action where that makes none."""
    if isinstance(choices, Sheet) and (sheet := _other_line(action, choices, key)) is not None:
        return sheet
    if isinstance(choices, Flat) and choices.count > 1:
        others = [other for other in choices.actions if other != action]
        return others[key.at("other").integer(len(others))]
    return choices.sample(key.at("any"))


def _other_line(action: str, sheet: Sheet, key: Key) -> str | None:
    """Return a sheet whose line in one slot is drawn anew, there or in an empty slot; None where that makes none."""
    lines = sheet.by_slot(action)
    filled = [slot for slot, line in enumerate(lines) if line]
    if not filled:
        return None
    left = filled[key.at("slot").integer(len(filled))]
    free = [slot for slot, line in enumerate(lines) if not line or slot == left]
    options = sheet.slots[free[key.at("free").integer(len(free))]].options
    kept = [line for slot, line in enumerate(lines) if line and slot != left]
    return sheet.canonical([*kept, options[key.at("line").integer(len(options))]])
