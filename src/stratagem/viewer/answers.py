"""Answers of the pages: what a folder holds, as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stratagem.errors import StratagemError
from stratagem.games.base import Json
from stratagem.viewer.library import Library
from stratagem.viewer.listing import LONGEST_PAGE, Filter, find_row, listed, rows_of
from stratagem.viewer.parameters import given, number
from stratagem.viewer.prompts import shaded
from stratagem.viewer.replays import load_episode, replay_of
from stratagem.viewer.runs import run_page, run_row
from stratagem.viewer.sentences import sentence_of
from stratagem.viewer.words import words_of

_PAGE = 100
"""Episodes of a page of the list where a request does not say."""
Asked = Mapping[str, str]
"""Parameters of a request."""


def content_of(library: Library, asked: Asked) -> Json:
    """Return the records, runs and pages of the folder."""
    return {
        "folder": library.root.name or str(library.root),
        "records": [_record(name, path) for name, path in library.records.items()],
        "runs": [run_row(name, run) for name, run in library.runs.items()],
        "pages": list(library.pages),
    }


def _record(name: str, path: Path) -> Json:
    try:
        rows = rows_of(path)
    except StratagemError as error:
        return {"name": name, "episodes": 0, "games": [], "players": [], "sentence": sentence_of(error)}
    players = dict.fromkeys(player for row in rows for player in row.players)
    return {
        "name": name,
        "episodes": len(rows),
        "games": list(dict.fromkeys(row.game for row in rows)),
        "players": list(players),
        "sentence": "",
    }


def episodes(library: Library, asked: Asked) -> Json:
    """Return a page of the episodes of a record."""
    wanted = Filter(
        illegal=asked.get("illegal", "") == "1",
        **{name: asked.get(name, "") for name in ("player", "game", "purpose", "outcome", "text", "opponent")},
    )
    return listed(
        library.record(given(asked, "record")),
        wanted,
        offset=number(asked, "offset", 0),
        limit=min(number(asked, "limit", _PAGE), LONGEST_PAGE),
        newest=asked.get("order", "") == "newest",
    )


def episode(library: Library, asked: Asked) -> Json:
    """Return the replay of an episode."""
    folder = library.record(given(asked, "record"))
    return {**replay_of(folder, given(asked, "id")), "path": str(folder)}


def words(library: Library, asked: Asked) -> Json:
    """Return the calls behind a decision."""
    folder = library.record(given(asked, "record"))
    played = load_episode(folder, given(asked, "id"))
    turn, seat, attempt = (number(asked, name, 0) for name in ("turn", "seat", "attempt"))
    calls = words_of(played, turn, seat, attempt, library.run_of(folder))
    return {"calls": [shaded(folder, find_row(folder, played.id).shard, played.game, call) for call in calls]}


def run_of(library: Library, asked: Asked) -> Json:
    """Return the page of a run."""
    name = given(asked, "name")
    run = library.run(name)
    record = next((known for known, path in library.records.items() if path == run.record), None)
    return {**run_page(name, run), "record": record}


def written(content: Any) -> str:
    """Write content as JSON in ASCII: texts of models may hold halves of characters, which have no other encoding.

    What is no finite number is null.
    """
    return json.dumps(_finite(content), allow_nan=False, separators=(",", ":"))


def _finite(content: Any) -> Any:
    """Replace numbers that JSON does not have by null."""
    if isinstance(content, float):
        return content if abs(content) < float("inf") else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, str) or not isinstance(content, Iterable):
        return content
    return [_finite(value) for value in content]
