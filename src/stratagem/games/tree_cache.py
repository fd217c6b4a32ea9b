"""Trees of games on disk: columns in files that are read memory-mapped, each tree under the digest of its rules.

Only large trees of this package's own games, and of OpenSpiel's, are stored: a file of a user's, code or data, may
change with any edit. Views and states are not stored, since the moves on the way to a set make them again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from stratagem.base.cache import cache_folder, make_folder
from stratagem.base.errors import StratagemError
from stratagem.games.base import Game, SetOptions
from stratagem.games.spiel.parameter_files import files_in_game
from stratagem.games.spiel.rules import SpielRules
from stratagem.games.tree import GameTree, RoundKind
from stratagem.games.tree_sets import InformationSets, SetColumns
from stratagem.games.tree_walk import BUDGET, Progress, check_size, walk

FORMAT = 1
"""Version of the stored format."""
LEAST_NODES = 100_000
"""Nodes of the smallest tree that is stored; a smaller one is walked in a third of a second."""
MOST_BYTES = 2 * 2**30
"""Bytes of all stored trees; of more than these, the ones that were not used for longest are removed."""
_OPTIONS = "options.json"
_NODES = (
    "parent",
    "mover",
    "information_set",
    "choice",
    "probability",
    "first_child",
    "num_children",
    "returns",
    "rounds",
    "depths",
)
_SETS = ("seat", "before", "turn", "option", "node")


def tree_of(
    game: Game[Any], budget: int = BUDGET, progress: Progress | None = None, *, one_round: bool = False
) -> GameTree:
    """Return the tree of a game as `walk` does; a large one is walked once and then read from the cache."""
    folder = None if one_round and game.spec.independent_rounds else _folder_of(game)
    if folder is not None and (stored := _read_tree(game, folder)) is not None:
        check_size(game, len(stored), budget)
        return stored
    tree = walk(game, budget, progress, one_round=one_round)
    if folder is not None and len(tree) >= LEAST_NODES:
        with suppress(OSError, StratagemError):  # a tree that cannot be stored is walked again another time
            make_folder(folder, lambda made: _write_tree(tree, made))
            _make_room(folder)
    return tree


def _folder_of(game: Game[Any]) -> Path | None:
    """Return where the tree of a game is stored; None for one whose rules are not this package's or OpenSpiel's."""
    inner: Game[Any] | None = game
    while inner is not None:
        if not _is_ours(inner) or (isinstance(inner, SpielRules) and _has_own_part(inner)):
            return None
        inner = inner.inner
    # not the game's text, which leaves out what another package sets under a name of its own
    rules = f"{game!r} v{game.spec.version} format {FORMAT} {rules_stamp()}"
    try:
        return cache_folder() / "trees" / hashlib.blake2b(rules.encode(), digest_size=16).hexdigest()
    except RuntimeError:  # a user without a home
        return None


def _is_ours(part: object) -> bool:
    return type(part).__module__.startswith("stratagem.")


def _has_own_part(game: SpielRules) -> bool:
    """Return whether a game of OpenSpiel reads a file, or has action names by code of a user's."""
    return bool(files_in_game(game.text)) or not _is_ours(game.look)


@cache
def rules_stamp() -> str:
    """Return a text that differs wherever the rules of games may: sizes and times of their files, and versions."""
    here = Path(__file__).parent
    paths = sorted([*here.rglob("*.py"), *here.rglob("*.toml")])  # texts decide which draws are short enough
    stats = [(str(path.relative_to(here)), path.stat()) for path in paths]
    try:
        openspiel = version("open_spiel")
    except PackageNotFoundError:
        openspiel = ""
    return repr([openspiel, *((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)])


def _write_tree(tree: GameTree, folder: Path) -> None:
    import numpy as np

    sets = tree.information_sets.columns
    size = sum(getattr(tree, name).nbytes for name in _NODES) + sum(getattr(sets, name).nbytes for name in _SETS)
    if size > MOST_BYTES // 2:
        raise OSError("too large to store")
    for name in _NODES:
        np.save(folder / f"{name}.npy", getattr(tree, name))
    for name in _SETS:
        np.save(folder / f"set-{name}.npy", getattr(sets, name))
    text = json.dumps([[list(one.actions), list(one.moves)] for one in sets.options])
    (folder / _OPTIONS).write_text(text, encoding="utf-8")


def _read_tree(game: Game[Any], folder: Path) -> GameTree | None:
    """Read a tree; None where there is none, or no whole one."""
    import numpy as np

    try:
        if not folder.is_dir():
            return None
        text = (folder / _OPTIONS).read_text(encoding="utf-8")
        options = tuple(SetOptions(tuple(actions), tuple(moves)) for actions, moves in json.loads(text))
        nodes = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _NODES}
        of_sets = {name: np.load(folder / f"set-{name}.npy", mmap_mode="r") for name in _SETS}
    except (OSError, ValueError, TypeError, EOFError):  # the last of a file without a byte, as a crash may leave it
        shutil.rmtree(folder, ignore_errors=True)
        return None
    with suppress(OSError):
        os.utime(folder)
    columns = SetColumns(**of_sets, options=options)
    known = InformationSets(game, None, columns, nodes["parent"], nodes["choice"], nodes["information_set"])
    return GameTree(game=game, **nodes, information_sets=known, kinds=(RoundKind(1.0, (0,), known),))


def _make_room(kept: Path) -> None:
    """Remove the trees that were not used for longest, as long as all take more than their room."""
    stored = sorted(_stored_trees(kept.parent), reverse=True)
    room = MOST_BYTES
    for _, size, folder in stored:
        room -= size
        if room < 0 and folder != kept:
            shutil.rmtree(folder, ignore_errors=True)


def _stored_trees(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield the time of the last use, the bytes and the folder of each stored tree."""
    for tree in folder.iterdir():
        with suppress(OSError):  # another process may remove it meanwhile
            yield tree.stat().st_mtime, sum(file.stat().st_size for file in tree.iterdir()), tree
