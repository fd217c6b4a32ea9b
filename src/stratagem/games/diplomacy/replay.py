"""Export of a game for other programs of Diplomacy: the engine's saved-game format and a picture of every phase.

The engine's `is_valid_saved_game` accepts the saved game. Time stamps and random ids are left out, so the same game
makes the same files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stratagem.games.diplomacy.coasts import Coasts, orders_as_read
from stratagem.games.diplomacy.engine import Engine, Results, engine_at, phase_of, process
from stratagem.games.diplomacy.facts import Log

SAVED = "game.json"
GLOBAL = "GLOBAL"
"""Recipient of a message to all, as the engine names it."""
_LEFT_OUT = ("timestamp", "game_id")
_NO_PRESS = "NO_PRESS"
"""Rule of a saved game without messages."""


class Press(NamedTuple):
    """Message of a power."""

    phase: int
    """Number of phases before the one in which it was sent."""
    sender: str
    recipient: str
    text: str


def replay_files(
    board: str, log: Log, press: Sequence[Press] | None = None, *, coasts: Coasts = "named"
) -> Iterator[tuple[str, str]]:
    """Name and text: every phase with its orders drawn in, the last board, and the saved game.

    There are no pictures of a map that the engine cannot draw.
    `press` are the messages of a game with talk, in the order in which they were sent.
    """
    engine, written = engine_at(board), list[dict[str, str]]()
    for number, (phase, lines) in enumerate(log, 1):
        orders: dict[str, list[str]] = {}
        for power, line, _ in lines:
            orders.setdefault(power, []).append(line)
        spelled = _spell_orders(engine, orders)
        for power, own in orders.items():
            engine.set_orders(power, own, expand=False)
        yield from _picture(engine, f"{number:03d}-{phase}")
        results = process(engine, orders_as_read(orders, coasts))
        written.append({unit: _write_order(unit, lines, results, coasts) for unit, lines in spelled.items()})
    yield from _picture(engine, f"{len(log) + 1:03d}-{phase_of(engine)}")
    yield SAVED, _text(_saved_game(engine, written), press)


def _picture(engine: Engine, name: str) -> Iterator[tuple[str, str]]:
    """Yield the picture of a phase, if the engine has one of its map."""
    if (drawn := engine.render(incl_orders=True)) is not None:
        yield f"{name}.svg", str(drawn)


def _spell_orders(engine: Engine, orders: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, str]]:
    """By unit, an order as it was given and as the engine spells it when it reads a file.

    They differ where a fleet supports the move of a fleet that can reach two coasts: the engine drops the coast.
    """
    given = {_unit(line): line for own in orders.values() for line in own}
    for power, own in orders.items():
        engine.set_orders(power, list(own))
    read = {_unit(line): line for own in engine.get_orders().values() for line in own}
    engine.clear_orders()
    return {unit: (given[unit], line) for unit, line in read.items() if unit in given}


def _unit(line: str) -> str:
    return " ".join(line.split()[:2])


def _write_order(unit: str, lines: tuple[str, str], results: Results, coasts: Coasts) -> str:
    """Return the order as the file has it: a support that was void for its coast is written as a hold."""
    given, read = lines
    return f"{unit} H" if coasts == "named" and read != given and "void" in results.get(unit, ()) else read


def _saved_game(engine: Engine, written: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the saved game without messages."""
    from diplomacy.utils.export import to_saved_game_format

    game: dict[str, Any] = to_saved_game_format(engine)
    for phase, lines in zip(game["phases"], written, strict=False):  # the last phase was not played
        phase["orders"] = {
            power: [lines.get(_unit(line), line) for line in own or ()] for power, own in phase["orders"].items()
        }
    for phase in game["phases"]:
        phase["state"] = {key: value for key, value in phase["state"].items() if key not in _LEFT_OUT}
        phase["results"] = {unit: [str(code) for code in codes] for unit, codes in phase["results"].items()}
    return game


def _text(game: dict[str, Any], press: Sequence[Press] | None) -> str:
    """Write a saved game, with messages where there may be some; a message's time is its number."""
    if press is not None:
        for rules in (game["rules"], *(phase["state"]["rules"] for phase in game["phases"])):
            rules[:] = [rule for rule in rules if rule != _NO_PRESS]
        for time, message in enumerate(press):
            phase = game["phases"][message.phase]
            sent = {"sender": message.sender, "recipient": message.recipient, "message": message.text}
            phase["messages"].append({**sent, "phase": phase["name"], "time_sent": time})
    return json.dumps(game, indent=1, sort_keys=True) + "\n"
