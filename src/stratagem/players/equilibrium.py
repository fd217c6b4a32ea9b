"""Tables of equilibrium strategies: CFR+ by OpenSpiel in C++, in our keys and actions, cached on disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.cache import cache_folder
from stratagem.errors import CannotCompute
from stratagem.games.base import Game, Node, Twin
from stratagem.games.spiel.engine import CHANCE, TERMINAL

FORMAT = 1
"""Version of the cached format; raised when an old table would be read wrongly."""
_MOST_NODES, _MOST_SETS = 1_000_000, 100_000
"""Limits of a game's tree: CFR+ beyond them would take hours."""

Table = dict[str, dict[str, float]]
"""By information set: actions and their probabilities."""


class _Set(NamedTuple):
    """An information set in our terms: its key, and the names of its actions."""

    key: str
    names: dict[int, str]


@lru_cache(maxsize=16)
def average_policy(game: Game[Any], iterations: int) -> Mapping[str, Mapping[str, float]]:
    """Return the average strategy after so many iterations of CFR+, from the cache where it was solved before."""
    twin = _solvable(game)
    path = cache_path(game, twin, iterations)
    table = _read(path, path.stem)
    if table is None:
        table = _solved(game, twin, iterations)
        with suppress(OSError):  # a table that cannot be kept is solved again another time
            _write(path, {"solves": path.stem, "table": table})
    return table


def refuse_untabled(game: Game[Any], iterations: int) -> None:
    """Refuse a game without distinct keys for its information sets, before solving it.

    A cached table is proof enough.
    """
    twin = _solvable(game)
    path = cache_path(game, twin, iterations)
    if _read(path, path.stem) is None:
        _information_sets(game)


def cache_path(game: Game[Any], twin: Twin, iterations: int) -> Path:
    """Return the path of a game's cached table: in $STRATAGEM_CACHE, or ~/.cache/stratagem."""
    solved = f"{game.spec.name} v{game.spec.version} {twin.spiel}"
    readable = re.sub(r"[^\w=;-]+", "_", solved).strip("_")[:120]
    digest = hashlib.blake2b(solved.encode(), digest_size=4).hexdigest()
    return cache_folder() / f"cfr-plus-{readable}-{digest}-{iterations}-format{FORMAT}.json"


def _solvable(game: Game[Any]) -> Twin:
    spec, twin = game.spec, game.twin()
    if twin is None:
        raise CannotCompute(f"cfr cannot solve {spec.name}, which OpenSpiel does not know.")
    if spec.seats != 2 or spec.utility not in ("zero-sum", "constant-sum"):
        raise CannotCompute(f"cfr finds equilibria of two-player constant-sum games, and {spec.name} is none.")
    if not twin.spiel.get_type().provides_information_state_string:
        raise CannotCompute(f"cfr cannot solve {spec.name}: OpenSpiel does not name its information sets.")
    return twin


def _solved(game: Game[Any], twin: Twin, iterations: int) -> Table:
    import pyspiel

    sets = _information_sets(game)
    solver = pyspiel.CFRPlusSolver(twin.spiel)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    policy = solver.tabular_average_policy().policy_table()
    return {known.key: _mix(policy[name], known.names) for name, known in sets.items()}


def _mix(row: list[tuple[int, float]], names: Mapping[int, str]) -> dict[str, float]:
    total = sum(probability for _, probability in row)
    return {names[action]: probability / total for action, probability in row}


@lru_cache(maxsize=4)
def _information_sets(game: Game[Any]) -> Mapping[str, _Set]:
    """Return every information set by OpenSpiel's name for it; fails where our keys do not tell them apart."""
    sets = _walked(game, _solvable(game))
    if len({known.key for known in sets.values()}) < len(sets):
        raise CannotCompute(f"cfr cannot play {game.spec.name}: its keys do not tell its information sets apart.")
    return sets


def _walked(game: Game[Any], twin: Twin) -> dict[str, _Set]:
    """Return the information sets of the whole tree, where that is not too large."""
    sets: dict[str, _Set] = {}
    stack: list[Node] = [twin.spiel.new_initial_state()]
    for _ in range(_MOST_NODES):
        if not stack:
            return sets
        if len(sets) > _MOST_SETS:
            break
        node = stack.pop()
        mover = node.current_player()
        if mover == TERMINAL:
            continue
        if mover != CHANCE and (name := node.information_state_string()) not in sets:
            sets[name] = _Set(twin.view(node).info_key, {a: twin.action(node, a) for a in node.legal_actions()})
        stack.extend(node.child(action) for action in node.legal_actions())
    limits = f"{_MOST_SETS:,} information sets or {_MOST_NODES:,} positions"
    raise CannotCompute(f"{game.spec.name} is too large for cfr: it has more than {limits}.")


def _read(path: Path, solves: str) -> Table | None:
    """Return the cached table; None where there is none that can be trusted, since it can be solved again."""
    try:
        data = json.loads(path.read_text())
        table: Table = data["table"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return table if data.get("solves") == solves else None


def _write(path: Path, data: Mapping[str, Any]) -> None:
    """Write under another name and rename, so that nobody ever reads half a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(data, file)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
