"""Tables of equilibrium strategies: CFR+ on the sequence form of a game, in our keys and actions, cached on disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from stratagem.base.cache import cache_folder
from stratagem.base.errors import CannotCompute
from stratagem.base.files import parse_json, read_small
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.tree import GameTree
from stratagem.games.tree_cache import tree_of

FORMAT = 3
"""Version of the cached format; raised when an old table would be read wrongly, or another solver finds another."""

CFR_PLUS = "cfr+"
"""Method of the solver, unless another is named."""
Table = dict[str, dict[str, float]]
"""By information set: actions and their probabilities."""


@lru_cache(maxsize=16)
def average_policy(game: Game[Any], iterations: int, method: str = CFR_PLUS) -> Mapping[str, Mapping[str, float]]:
    """Return the average strategy after so many iterations, from the cache where it was solved before."""
    check_solvable(game)
    path = cache_path(game, iterations, method)
    table = _read(path, path.stem)
    if table is None:
        table = solve_tree(_tree(game), iterations, method)
        with suppress(OSError):  # a table that cannot be kept is solved again another time
            _write(path, {"solves": path.stem, "table": table})
    return table


def refuse_untabled(game: Game[Any], iterations: int, method: str = CFR_PLUS) -> None:
    """Refuse a game that is too large, or without distinct keys for its information sets, before solving it.

    A cached table is proof enough.
    """
    check_solvable(game)
    path = cache_path(game, iterations, method)
    if _read(path, path.stem) is None:
        _tree(game)


def cache_path(game: Game[Any], iterations: int, method: str = CFR_PLUS) -> Path:
    """Return the path of a game's cached table: in $STRATAGEM_CACHE, or ~/.cache/stratagem.

    A game from outside this package may change without a new version, so its tree is part of the name.
    """
    solved = f"{describe(game)} v{game.spec.version}"
    if not type(game).__module__.startswith("stratagem."):
        solved += f" {_tree(game).digest}"
    readable = re.sub(r"[^\w=;-]+", "_", solved).strip("_")[:120]
    digest = hashlib.blake2b(solved.encode(), digest_size=4).hexdigest()
    kind = "cfr-plus" if method == CFR_PLUS else method
    return cache_folder() / f"{kind}-{readable}-{digest}-{iterations}-format{FORMAT}.json"


def is_solvable(game: Game[Any]) -> bool:
    """Return whether self-play finds an equilibrium of a game: of two seats, with constant sum."""
    return game.spec.seats == 2 and game.spec.utility in ("zero-sum", "constant-sum")


def check_solvable(game: Game[Any]) -> None:
    """Refuse a game in which self-play finds no equilibrium."""
    if not is_solvable(game):
        raise CannotCompute(f"cfr finds equilibria of two-player constant-sum games, and {game.spec.name} is none.")


@lru_cache(maxsize=4)
def _tree(game: Game[Any]) -> GameTree:
    """Return the tree of a game; refused where its keys do not tell its information sets apart."""
    tree = tree_of(game, one_round=True)
    if not has_distinct_keys(tree):
        raise CannotCompute(f"cfr cannot play {game.spec.name}: its keys do not tell its information sets apart.")
    return tree


def has_distinct_keys(tree: GameTree) -> bool:
    """Return whether the keys of the views tell the information sets of a tree apart."""
    return len({known.view.info_key for known in tree.information_sets}) == len(tree.information_sets)


def solve_tree(tree: GameTree, iterations: int, method: str) -> Table:
    """Solve a tree by this method, and return the average strategy as a table."""
    from stratagem.games.regret_solver import TreeSolver  # loads numpy

    solver = TreeSolver(tree, method)
    solver.iterate(iterations)
    return policy_table(tree, solver.average().tolist())


def policy_table(tree: GameTree, policy: Sequence[float]) -> Table:
    """Return a policy by the keys of the information sets, for one by the slots of the tree."""
    slots = tree.slots.tolist()
    rows = (policy[first:after] for first, after in pairwise(slots))
    return {
        known.view.info_key: dict(zip(known.actions, row, strict=True))
        for known, row in zip(tree.information_sets, rows, strict=True)
    }


def _read(path: Path, solves: str) -> Table | None:
    """Return the cached table; None where there is none that can be trusted, since it can be solved again."""
    try:
        data = parse_json(read_small(path))
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
