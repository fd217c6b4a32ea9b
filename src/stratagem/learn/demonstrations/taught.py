"""Demonstrations by hand: positions of recorded games with the action that should be played, added to a file.

The file has the lines of `stratagem data`, so every reader of those reads it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any

from stratagem.base.errors import BadParameter
from stratagem.base.files import telling
from stratagem.games.base import View
from stratagem.games.catalogue import describe
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.learn.demonstrations.scripted import Demonstration, reply

_ROLES = ("system", "user", "assistant")
DEMONSTRATOR = "human@1"
"""Name of the person who corrects."""


def correct_decision(view: View[Any], action: str, thought: str, style: Style, episode: str) -> Demonstration:
    """Make the example of a corrected decision."""
    return Demonstration(
        messages=tuple(style.messages(view)),
        reply=reply(style, action, thought),
        game=describe(view.game),
        info_key=view.info_key,
        action=action,
        demonstrator=DEMONSTRATOR,
        opponent="",
        episode=episode,
        held_out=False,
        repeat=0,
    )


def append(path: Path, example: Demonstration) -> int:
    """Add an example to a file, and return the number of its lines; a torn last line is refused."""
    line = (json.dumps(example.row(), ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise BadParameter(f"{path} is a link or no file, so nothing is added to it: put a file there, or remove it.")
    with telling(path), _appending(path) as file:
        file.seek(0)
        before = file.read()
        if before and not before.endswith(b"\n"):
            raise BadParameter(f"The last line of {path} is torn: delete it first.")
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    return before.count(b"\n") + 1


def _appending(path: Path) -> IO[bytes]:
    """Open a file to append; a link that comes between the look and the opening is not followed."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o666), "ab+")


def read_demonstrations(path: Path) -> list[tuple[str, list[ChatMessage], str]]:
    """Read the game, the prompt and the reply of every line of a file."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise BadParameter(f"The demonstrations {str(path)!r} cannot be read: {reason}.") from error
    if not text:
        raise BadParameter(f"The file {str(path)!r} has no demonstration.")
    lines = text.removesuffix("\n").split("\n")  # `splitlines` would also cut at breaks that JSON allows in a text
    return [_example(path, number, line) for number, line in enumerate(lines, 1)]


def _example(path: Path, number: int, line: str) -> tuple[str, list[ChatMessage], str]:
    try:
        row = json.loads(line)
        messages = [ChatMessage(message["role"], message["content"]) for message in row["messages"]]
        game = row["game"]
    except (ValueError, TypeError, KeyError, RecursionError):
        messages, game = [], None
    sound = all(message.role in _ROLES and isinstance(message.content, str) for message in messages)
    if len(messages) < 2 or messages[-1].role != "assistant" or not sound or not isinstance(game, str):
        raise BadParameter(
            f"Line {number} of {str(path)!r} is no demonstration: it has a `game`, and `messages` whose last is the "
            "assistant's, as `stratagem data` writes them."
        )
    return game, messages[:-1], messages[-1].content
