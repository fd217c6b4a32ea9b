"""Demonstration sets of SEPO's SFT stage, and their files: two of JSON lines for each set, and a manifest.

A set has a number of examples of each game. A line is a chat with its metadata. The same plan writes the same bytes,
and a file has its name only once it is complete; the manifest comes last.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, NamedTuple, Self

from stratagem import __version__
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.options import within
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.demonstrations.reasoning.catalogue import VERSION
from stratagem.learn.demonstrations.scripted import Demonstration, cast_of, demonstrations, num_episodes, shuffle_items

PUBLISHED: dict[str, dict[str, int]] = {
    "multi": {"ipd": 8_000, "auction": 8_000, "negotiation-v1": 15_988},
    "negotiation-v2": {"negotiation-v2": 4_000},
    "kuhn": {"kuhn": 8_000},
}
"""Number of examples of every game, by set (SEPO, appendix H; the split of `multi` is not published)."""
SETS: dict[str, dict[str, int]] = PUBLISHED | {name: {name: 8_000} for name in ("ipd", "auction", "negotiation-v1")}
"""Published sets, and a set for each of the other games alone."""


@dataclass(frozen=True, kw_only=True)
class DemonstrationPlan:
    """Plan of demonstration sets: their names, seed, style and scale."""

    sets: tuple[str, ...] = tuple(PUBLISHED)
    seed: int = 42
    style: str = "reasoned"
    scale: float = 1.0
    """Factor on the published numbers of examples and episodes."""

    def __post_init__(self) -> None:
        within("A demonstration set", "scale", self.scale, 0.0)
        if not self.scale:
            raise BadParameter("A demonstration set needs `scale=` above 0.")
        for name in self.sets:
            if name not in SETS:
                raise UnknownName("demonstration set", name, SETS)
        if len(set(self.sets)) < len(self.sets):
            raise BadParameter(f"Every demonstration set is named once, not {', '.join(self.sets)}.")
        for name in self.sets:
            self.streams(name)  # a style that does not suit a game is an error before anything is written

    def counts(self, name: str) -> dict[str, int]:
        """Return the number of examples of each game of a set."""
        return {game: max(1, round(count * self.scale)) for game, count in SETS[name].items()}

    def episodes(self, game: str) -> int:
        """Return the number of episodes against each opponent."""
        return ceil(num_episodes(make_bounded_game(game)) * self.scale)

    @property
    def total(self) -> int:
        """Number of examples of all sets."""
        return sum(sum(self.counts(name).values()) for name in self.sets)

    def streams(self, name: str) -> dict[str, Iterator[Demonstration]]:
        """Return lazy streams of the examples of one set, by game."""
        key, style = Key(self.seed), make_style(self.style)
        return {
            game: demonstrations(make_bounded_game(game), count, key, style=style, episodes=self.episodes(game))
            for game, count in self.counts(name).items()
        }

    def examples(self, name: str) -> Iterator[Demonstration]:
        """Yield the examples of one set, those of several games mixed."""
        streams = self.streams(name)
        games = [game for game, count in self.counts(name).items() for _ in range(count)]
        for game in shuffle_items(games, Key(self.seed).at("set", name)):
            yield next(streams[game])


SCHEMA_VERSION = 1


class JSONLinesWriter:
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


def write_sets(
    plan: DemonstrationPlan, folder: Path, step: Callable[[str], None] = lambda name: None
) -> dict[str, Any]:
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


def _write_set(plan: DemonstrationPlan, name: str, folder: Path, step: Callable[[str], None]) -> dict[str, Any]:
    (folder / name).mkdir(parents=True)
    written = []
    with (
        JSONLinesWriter(folder / name / "train.jsonl") as train,
        JSONLinesWriter(folder / name / "validation.jsonl") as validation,
    ):
        for example in plan.examples(name):
            step(name)
            (validation if example.held_out else train).write(example.row())
            written.append(ExampleSummary.of(example))
    by_game = {game: [row for row in written if row.game == game] for game in plan.counts(name)}
    return {
        "files": {f"{name}/{lines.path.name}": lines.facts() for lines in (train, validation)},
        "games": {game: _game_facts(plan, game, rows) for game, rows in by_game.items()},
    }


def _game_facts(plan: DemonstrationPlan, name: str, rows: list[ExampleSummary]) -> dict[str, Any]:
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
