"""Demonstrations of a file as examples for SFT, such as those that were added by hand.

The run keeps a copy of the file, so a resumed run learns from the same examples, whatever was added since.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stratagem.demonstrations.imitation import TeacherDecision
from stratagem.demonstrations.scripted import shuffled
from stratagem.demonstrations.taught import read_demonstrations
from stratagem.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.runs.files import telling, write_file
from stratagem.runs.folder import RunFolder

COPY = Path("files") / "demonstrations.jsonl"
"""Copy of the file in the folder of the run."""


def check_demonstrations(file: str, games: Sequence[Game[Any]], run: RunFolder) -> None:
    """Refuse a file that cannot be read, or that has no example of one of the games."""
    for game in games:
        _of_game(_path(file, run), game)


def keep_demonstrations(file: str, run: RunFolder) -> None:
    """Copy the file into the folder of the run, unless it has one."""
    path = _path(file, run)
    if path != run.path / COPY:
        with telling(run.path / COPY):
            (run.path / COPY).parent.mkdir(exist_ok=True)
        write_file(run.path / COPY, path.read_text("utf-8"))


def file_decisions(file: str, game: Game[Any], examples: int, key: Key, run: RunFolder) -> Iterator[TeacherDecision]:
    """Yield so many examples of a game, each once before any is repeated, in an order that follows from the key."""
    known = shuffled(_of_game(_path(file, run), game), key.at("file", describe(game)))
    yield from (known[number % len(known)] for number in range(examples))


def _path(file: str, run: RunFolder) -> Path:
    copy = run.path / COPY
    return copy if copy.is_file() else Path(file).expanduser()


def _of_game(path: Path, game: Game[Any]) -> list[TeacherDecision]:
    """Return the examples of a game; those with other parameters count, since the texts say what is played."""
    every = read_demonstrations(path)
    found = [
        TeacherDecision(messages, reply) for name, messages, reply in every if _kind(name) == _kind(describe(game))
    ]
    if not found:
        games = ", ".join(dict.fromkeys(name for name, _, _ in every))
        raise BadParameter(f"{str(path)!r} has no demonstration of {describe(game)}: it has those of {games}.")
    return found


def _kind(game: str) -> str:
    """Return the name of a game without its parameters."""
    return game.partition("(")[0].strip()
