"""Rules engine: the package `diplomacy`, imported on first use; no other module touches it.

A position is a text, JSON with sorted keys, from which the engine can be set up again; clocks and ids are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord, CannotCompute, MissingExtra

Engine = Any
"""A `diplomacy.Game`; the package has no type stubs."""
Results = dict[str, tuple[str, ...]]
"""By unit, the result of its order; nothing where it succeeded."""
_KEPT = ("name", "units", "retreats", "centers", "homes")
COMPLETED = "COMPLETED"
STANDARD = "standard"
_FIRST, _WIN = 1901, 18
"""First year of the standard map, and centres that win, more than half of its 34: known without the engine, too."""
_POWERS = ("AUSTRIA", "ENGLAND", "FRANCE", "GERMANY", "ITALY", "RUSSIA", "TURKEY")
"""Powers of the standard map, so that the game can be described without the engine."""


def module() -> Any:
    """Import the package, or fail with a sentence that says how to install it."""
    try:
        import diplomacy
    except ImportError as error:
        raise MissingExtra("Diplomacy", "diplomacy") from error
    return diplomacy


@lru_cache(maxsize=1)
def maps() -> tuple[str, ...]:
    """Return the maps that the engine has."""
    folder = Path(module().__file__).parent / "maps"
    return tuple(sorted(path.stem for path in folder.glob("*.map")))


@lru_cache(maxsize=8)
def powers_of(board: str) -> tuple[str, ...]:
    """Return the powers of a map, sorted."""
    if board == STANDARD:
        return _POWERS
    return tuple(sorted(module().Game(map_name=board).powers))


@lru_cache(maxsize=8)
def centers_of(board: str) -> frozenset[str]:
    """Return all supply centres of a map."""
    return frozenset(place.upper() for place in module().Game(map_name=board).map.scs)


@lru_cache(maxsize=8)
def first_year_of(board: str) -> int:
    """Return the year in which the game begins on a map."""
    return _FIRST if board == STANDARD else int(module().Game(map_name=board).map.first_year)


@lru_cache(maxsize=8)
def win_of(board: str) -> int:
    """Return the number of centres that win alone on a map."""
    return _WIN if board == STANDARD else int(module().Game(map_name=board).win)


def engine_at(board: str, position: str | None = None) -> Engine:
    """Set up an engine in a position; without one, at the beginning of the game."""
    engine = module().Game(map_name=board, game_id="stratagem")
    if position is not None:
        try:
            engine.set_state(json.loads(position))
        except (ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
            raise BadRecord(f"This is no position on the map {board}: {error}.") from error
    return engine


def release(engine: Engine) -> None:
    """Make an engine that is no longer needed free its memory at once: its powers refer to it, in a cycle."""
    for power in engine.powers.values():
        power.game = None


_idle: dict[str, Engine] = {}
"""By map, an engine that no state uses: setting it up again takes half as long as making one."""


def orders_at(board: str, position: str) -> dict[str, tuple[str, ...]]:
    """Return the possible orders in a position by place, in a copy."""
    engine = _idle.pop(board, None) or module().Game(map_name=board, game_id="stratagem")
    engine.set_state(json.loads(position))
    _idle[board] = engine
    return possible_orders(engine)


def replay_phase(board: str, position: str, orders: Mapping[str, Sequence[str]]) -> Results:
    """Return the results of a phase with these orders, in a copy."""
    engine = _idle.pop(board, None) or module().Game(map_name=board, game_id="stratagem")
    engine.set_state(json.loads(position))
    results = process(engine, orders)
    if phase_of(engine) != COMPLETED:
        _idle[board] = engine
    return results


def position_of(engine: Engine) -> str:
    """Return the part of the engine's state that matters for the future, as a text."""
    state = {key: value for key, value in engine.get_state().items() if key in _KEPT}
    state["units"] = {power: sorted(units) for power, units in state["units"].items()}
    for key in ("centers", "homes"):
        state[key] = {power: sorted(places) for power, places in state[key].items()}
    state["retreats"] = {
        power: {unit: sorted(places) for unit, places in sorted(units.items())}
        for power, units in state["retreats"].items()
    }
    return json.dumps(state, sort_keys=True, separators=(",", ":"))


def possible_orders(engine: Engine) -> dict[str, tuple[str, ...]]:
    """Return the possible orders by place; the engine lists them in the order of its process's hashes."""
    return {place: tuple(sorted(orders)) for place, orders in engine.get_all_possible_orders().items() if orders}


def process(engine: Engine, orders: Mapping[str, Sequence[str]]) -> Results:
    """Play the phase with these orders by power; an order that the engine finds invalid is refused.

    Orders are taken as they are, so a support that names another coast than the move is void (`coasts`).
    A unit that was dislodged in Fall and had no retreat disbands in the results of Winter, under a name that another
    unit may have by then. An engine that was set up in Winter does not know of it, so it is left out.
    """
    late = "disband" if engine.phase_type == "A" else ""
    for power, lines in orders.items():
        engine.set_orders(power, list(lines), expand=False)
    if engine.error:
        message = "; ".join(str(getattr(error, "message", error)) for error in engine.error)
        raise CannotCompute(f"The engine of Diplomacy refused an order that it had offered: {message}.")
    engine.process()
    codes_by_unit = engine.result_history.last_value()
    return {
        unit: tuple(sorted({code for code_object in codes if (code := _code(code_object)) and code != late}))
        for unit, codes in codes_by_unit.items()
    }


def _code(code: Any) -> str:
    """Return the word of an order's result."""
    return str(getattr(code, "message", code))


def phase_of(engine: Engine) -> str:
    """Return the phase's short name, such as S1901M; `COMPLETED` when somebody has won."""
    return str(engine.get_current_phase())
