"""Keys of servers: each belongs to a host, goes to that host alone, and is shown nowhere else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stratagem.engines.remote.hosts import Host, host_of, read_host
from stratagem.errors import BadParameter

VARIABLES = ("STRATAGEM_API_KEY", "OPENAI_API_KEY")
"""Environment variables that hold keys; the first with one for the host counts."""
FILE_VARIABLE = "STRATAGEM_KEYS_FILE"
"""Environment variable with the path of a keys file."""
FILE = Path("~/.config/stratagem/keys")
"""Keys file where the variable names none."""
OWNERS = {"OPENAI_API_KEY": "api.openai.com"}
"""Host of a key that stands in a variable without one, as its owner's own programs write it."""
NO_KEY = "none"
"""Key for a host that has none: servers of one's own accept anything."""
SHORT = 6
"""Length below which a text is no secret: it may stand in any reply by chance."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secret:
    """Key that only `reveal` returns; its `repr` does not."""

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str = "") -> None:
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise BadParameter(f"The key in {source} has a character that no key has: set it again, as one plain word.")
        self._value = value
        self.source = source
        """Variable or file of the key; empty where there is no key."""

    def reveal(self) -> str:
        """Return the key itself, for the server."""
        return self._value

    def hide(self, text: str) -> str:
        """Remove the key from a text, should a server repeat it."""
        return text.replace(self._value, "…") if len(self._value) >= SHORT else text

    def __repr__(self) -> str:
        return f"Secret({self.source or 'no key'})"


class _Entry(NamedTuple):
    host: Host
    key: str
    source: str


def key_for(url: str) -> Secret:
    """Return the key of the server at an address: from the environment, else from the keys file, else none."""
    asked = host_of(url)
    for entry in (*_from_environment(), *_from_file()):
        if entry.host.covers(asked):
            return Secret(entry.key, entry.source)
    return Secret(NO_KEY)


def _from_environment() -> Iterator[_Entry]:
    for variable in VARIABLES:
        for text in os.environ.get(variable, "").split(","):
            if (text := text.strip()) and text != NO_KEY:
                yield _entry(text, variable, OWNERS.get(variable))


def _from_file() -> Iterator[_Entry]:
    """Read the keys of the file, one a line; a file that others may read is refused."""
    named = os.environ.get(FILE_VARIABLE, "").strip()
    path = Path(named or FILE).expanduser()
    try:
        if not named and not path.exists():
            return
        if os.name == "posix" and path.stat().st_mode & _OTHERS:
            raise BadParameter(f"Others may read the keys in {path}: say chmod 600 {path}.")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"The keys file {path} cannot be read: {_reason(error)}.") from None
    for line in map(str.strip, lines):
        if line and not line.startswith("#"):
            yield _entry(line, str(path), None)


def _entry(text: str, source: str, owner: str | None) -> _Entry:
    """Read `KEY@HOST`; the message of a mistake does not repeat the key."""
    key, at, named = text.rpartition("@")
    if not at:
        key, named = text, owner or ""
    host = read_host(named)
    if host is None or not key:
        raise BadParameter(
            f"A key in {source} does not say which host it belongs to: write KEY@HOST, such as "
            "KEY@api.example.com or KEY@localhost:8000, and a comma or a new line between two."
        )
    return _Entry(host, key, source)


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or "it is no file" if isinstance(error, OSError) else "it is no text"
