"""Drawn games on disk: the number of the accepted sketch, so that a later process draws the game without its search.

A stored draw is used only if its file is whole, the rules of games have not changed since, and the sketch of its number
is the game of the stored digest. Otherwise the game is drawn anew, so a damaged file changes no draw. The checksum has
no key: whoever may write the folder can change a draw.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stratagem.base.cache import cache_folder
from stratagem.base.errors import StratagemError
from stratagem.base.files import parse_json, read_small, write_file
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.reading import write_description
from stratagem.games.tree_cache import rules_stamp

if TYPE_CHECKING:
    from stratagem.games.drawn.worth import Worth

FORMAT = 1
"""Version of the stored format."""
Sketched = tuple[GameDescription, tuple[str, ...]]
"""Game of a sketch, and its structure."""
_TUPLES = ("payoff_ranges", "values", "stakes", "idle_actions")


@dataclass(frozen=True)
class GameDraw:
    """Accepted game with what was refused before it."""

    description: GameDescription
    structure: tuple[str, ...]
    attempt: int
    """Number of the accepted sketch, from 0."""
    refused: Counter[str]
    """Number of refused sketches by reason."""
    digest: str
    """Canonical digest of its tree."""
    worth: Worth
    """Figures of the game in shares of the payoff range."""


def draw_path(*seeded: object) -> Path | None:
    """Return the file of the draw of a generator's version, a family, a size and a seed; None without a home."""
    named = repr((FORMAT, *seeded, rules_stamp()))
    try:
        return cache_folder() / "draws" / f"{_digest(named)}.json"
    except RuntimeError:
        return None


def read_draw(path: Path | None, sketch: Callable[[int], Sketched]) -> GameDraw | None:
    """Return a stored draw, whose sketch is made again; None where there is none that can be trusted."""
    if path is None or not path.is_file():
        return None
    try:
        stored = parse_json(read_small(path))
        data = stored["draw"]
        if stored["digest"] != _digest(_text(data)):
            return None
        description, structure = sketch(int(data["attempt"]))
        if data["description"] != _digest(write_description(description)):
            return None
        refused, worth = Counter[str](data["refused"]), _read_worth(data["worth"])
        return GameDraw(description, structure, int(data["attempt"]), refused, str(data["digest"]), worth)
    except (OSError, ValueError, KeyError, TypeError, StratagemError):
        return None


def store_draw(path: Path | None, draw: GameDraw) -> None:
    """Store a draw; one that cannot be stored is drawn anew another time."""
    if path is None:
        return
    data: dict[str, Any] = {
        "attempt": draw.attempt,
        "description": _digest(write_description(draw.description)),
        "refused": dict(draw.refused),
        "digest": draw.digest,
        "worth": asdict(draw.worth),
    }
    data = json.loads(_text(data))
    with suppress(OSError, StratagemError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, json.dumps({"draw": data, "digest": _digest(_text(data))}))


def _read_worth(data: dict[str, Any]) -> Worth:
    from stratagem.games.drawn.worth import SimplePlay, Worth  # loads numpy, and names of games do not

    simple = {name: SimplePlay(**data[name]) for name in ("random", "myopic")}
    tuples = {name: tuple(data[name]) for name in _TUPLES}
    constants = tuple(SimplePlay(**one) for one in data["constants"])
    return Worth(**{**data, **simple, **tuples, "constants": constants})


def _text(data: object) -> str:
    return json.dumps(data, sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
