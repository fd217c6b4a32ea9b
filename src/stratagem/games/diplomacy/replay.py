"""A game as other programs of Diplomacy read it: the engine's saved-game format, and a picture of every phase.

Time stamps, ids and hashes are left out, so the same game makes the same files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stratagem.games.diplomacy.engine import Engine, engine_at, phase_of, process

if TYPE_CHECKING:
    from stratagem.games.diplomacy.state import Log

SAVED = "game.json"
_LEFT_OUT = ("timestamp", "zobrist_hash", "game_id")


def replay_files(board: str, log: Log) -> Iterator[tuple[str, str]]:
    """Name and text: every phase with its orders drawn in, the last board, and the saved game."""
    engine = engine_at(board)
    for number, (phase, lines) in enumerate(log, 1):
        orders: dict[str, list[str]] = {}
        for power, line, _ in lines:
            orders.setdefault(power, []).append(line)
        for power, own in orders.items():
            engine.set_orders(power, own, expand=False)
        yield f"{number:03d}-{phase}.svg", _picture(engine)
        process(engine, orders)
    yield f"{len(log) + 1:03d}-{phase_of(engine)}.svg", _picture(engine)
    yield SAVED, _saved(engine)


def _picture(engine: Engine) -> str:
    return str(engine.render(incl_orders=True))


def _saved(engine: Engine) -> str:
    from diplomacy.utils.export import to_saved_game_format

    game: dict[str, Any] = to_saved_game_format(engine)
    for phase in game["phases"]:
        phase["state"] = {key: value for key, value in phase["state"].items() if key not in _LEFT_OUT}
        phase["results"] = {unit: [str(code) for code in codes] for unit, codes in phase["results"].items()}
    return json.dumps(game, indent=1, sort_keys=True) + "\n"
