"""Demonstration sets on disk: a folder for each set with two files of JSON lines, and a manifest of their contents.

A line is a chat with its metadata. The same plan writes the same bytes, and a file has its name only once it is
complete; the manifest comes last.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, NamedTuple, Self

from stratagem import __version__
from stratagem.demonstrations.cast import cast_of
from stratagem.demonstrations.reasoning.catalogue import VERSION
from stratagem.demonstrations.scripted import Demonstration
from stratagem.demonstrations.sets import Plan
from stratagem.games.bounded import make_bounded_game

SCHEMA_VERSION = 1


class Lines:
    """Writer of a file of JSON lines, under another name until it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._partial = path.with_name(path.name + ".partial")
        self._digest = hashlib.sha256()
        self._size = self._count = 0

    def __enter__(self) -> Self:
        self._file = self._partial.open("wb")
        return self

    def write(self, row: dict[str, Any]) -> None:
        """Add a line."""
        line = (json.dumps(row, ensure_ascii=False) + "\n").encode()
        self._file.write(line)
        self._digest.update(line)
        self._size += len(line)
        self._count += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        if kind is None:
            self._partial.replace(self.path)

    def facts(self) -> dict[str, Any]:
        """Return the size of the file and its digest."""
        return {"examples": self._count, "bytes": self._size, "sha256": self._digest.hexdigest()}


class ExampleSummary(NamedTuple):
    """Summary of an example for the manifest."""

    game: str
    demonstrator: str
    held_out: bool
    repeated: bool
    length: int

    @classmethod
    def of(cls, example: Demonstration) -> Self:
        """Summarise an example without its texts."""
        known = example.game, example.demonstrator, example.held_out
        return cls(*known, example.repeat > 0, len(example.reply))


def write_sets(plan: Plan, folder: Path, step: Callable[[str], None] = lambda name: None) -> dict[str, Any]:
    """Write every set into a folder of its own and return the manifest; `step` is called before each example."""
    return {
        "schema_version": SCHEMA_VERSION,
        "stratagem": __version__,
        "reasoning_version": VERSION,
        "seed": plan.seed,
        "style": plan.style,
        "scale": plan.scale,
        "sets": {name: _write_set(plan, name, folder, step) for name in plan.sets},
    }


def _write_set(plan: Plan, name: str, folder: Path, step: Callable[[str], None]) -> dict[str, Any]:
    (folder / name).mkdir(parents=True)
    written = []
    with Lines(folder / name / "train.jsonl") as train, Lines(folder / name / "validation.jsonl") as validation:
        for example in plan.examples(name):
            step(name)
            (validation if example.held_out else train).write(example.row())
            written.append(ExampleSummary.of(example))
    by_game = {game: [row for row in written if row.game == game] for game in plan.counts(name)}
    return {
        "files": {f"{name}/{lines.path.name}": lines.facts() for lines in (train, validation)},
        "games": {game: _game_facts(plan, game, rows) for game, rows in by_game.items()},
    }


def _game_facts(plan: Plan, name: str, rows: list[ExampleSummary]) -> dict[str, Any]:
    """Return the manifest entry of one game of a set."""
    game = make_bounded_game(name)
    cast = cast_of(game)
    versioned = {who: f"{player.name}@{player.traits.version}" for who, player in cast.make(game).items()}
    counts = Counter(row.demonstrator for row in rows)
    repeated, lengths = sum(row.repeated for row in rows), [row.length for row in rows]
    return {
        "version": game.spec.version,
        "examples": len(rows),
        "train": sum(not row.held_out for row in rows),
        "validation": sum(row.held_out for row in rows),
        "decisions": len(rows) - repeated,
        "repeated": repeated,
        "reply_characters": {"median": median(lengths), "longest": max(lengths)},
        "episodes_per_opponent": plan.episodes(name),
        "opponents": [versioned[who] for who in cast.opponents],
        "demonstrators": {
            versioned[who]: {"weight": weight, "examples": counts[versioned[who]]}
            for who, weight in cast.demonstrators.items()
        },
    }
