"""Keys of servers: each belongs to a host, goes to that host alone, and is shown nowhere else."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.hosts import Host, host_of, read_host

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
NEEDED = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
    }
)
"""Headers that a request needs, beside the key."""
_HEADER = re.compile(r"(?P<name>[A-Za-z0-9!#$%&'*+.^_`|~-]+): *(?P<value>[ -~]*[!-~])")
_LONG = 16
"""Length from which the value of a header is removed from texts: shorter ones, such as a name, may be words."""
SHORT = 6
"""Length below which a text is no secret: it may stand in any reply by chance."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secret:
    """Key that only `reveal` returns; its `repr` does not."""

    __slots__ = ("_value", "headers", "source")

    def __init__(self, value: str, source: str = "", headers: tuple[tuple[str, str], ...] = ()) -> None:
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise BadParameter(f"The key in {source} has a character that no key has: set it again, as one plain word.")
        self._value = value
        self.source = source
        """Variable or file of the key; empty where there is no key."""
        self.headers = headers
        """Further headers for the server by name; their values are as secret as the key."""

    def reveal(self) -> str:
        """Return the key itself, for the server."""
        return self._value

    def hide(self, text: str) -> str:
        """Remove the key from a text, should a server repeat it."""
        for value in (self._value, *(value for _, value in self.headers if len(value) >= _LONG)):
            text = text.replace(value, "…") if len(value) >= SHORT else text
        return text

    def __repr__(self) -> str:
        return f"Secret({self.source or 'no key'})"


class _Entry(NamedTuple):
    host: Host
    key: str
    source: str
    header: str = ""
    """Name of the header whose value this is; empty for a key."""


def key_for(url: str) -> Secret:
    """Return the key of the server at an address: from the environment, else from the keys file, else none."""
    asked = host_of(url)
    known = [entry for entry in (*_from_environment(), *_from_file()) if entry.host.covers(asked)]
    keys = [entry for entry in known if not entry.header]
    headers = {entry.header: entry.key for entry in reversed(known) if entry.header}
    key = keys[0] if keys else _Entry(Host(""), NO_KEY, "")
    return Secret(key.key, key.source, tuple(headers.items()))


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
        if path.is_dir():
            raise BadParameter(f"{path} is a folder: {FILE_VARIABLE} takes a file of keys, one a line.")
        if os.name == "posix" and path.stat().st_mode & _OTHERS:
            raise BadParameter(f"Others may read the keys in {path}: say chmod 600 {path}.")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"The keys file {path} cannot be read: {_reason(error)}.") from None
    for line in map(str.strip, lines):
        if line and not line.startswith("#"):
            yield _entry(line, str(path), None)


def _entry(text: str, source: str, owner: str | None) -> _Entry:
    """Read `KEY@HOST` or `HEADER: VALUE@HOST`; the message of a mistake does not repeat the key."""
    key, at, named = text.rpartition("@")
    if not at:
        key, named = text, owner or ""
    host = read_host(named)
    if host is None or not key:
        raise BadParameter(
            f"A key in {source} does not say which host it belongs to: write KEY@HOST, such as "
            "KEY@api.example.com or KEY@localhost:8000, and a comma or a new line between two."
        )
    header = _HEADER.fullmatch(key)
    return (
        _Entry(host, header["value"], source, _header(header["name"], source)) if header else _Entry(host, key, source)
    )


def _header(name: str, source: str) -> str:
    """Return the name of a header in small letters; refused where it is one that the connection itself needs."""
    if name.casefold() in NEEDED - {"user-agent"}:
        raise BadParameter(f"The header {name} in {source} is set by the connection itself: leave it out.")
    return name.casefold()


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or "it is no file" if isinstance(error, OSError) else "it is no text"
