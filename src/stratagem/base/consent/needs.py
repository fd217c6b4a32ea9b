"""Needs: what a text would run, contact, read or hand over, found without an import.

A text is a value of a recipe, a name of a record, or a word of a command line. A file, a command or a server that the
search overlooks, as one that is spelt with escapes, is refused where it is used. A path that it overlooks is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.hosts import Host, host_of
from stratagem.base.named_files import COMMAND, descriptions_in, files_in, find_file

HUB = "huggingface.co"
"""Host from which `hf:ID` is downloaded."""
_COMMAND = re.compile(rf"""(?i:(?P<quote>['"]?){COMMAND})(?P<rest>.*)""", re.DOTALL)
_ENV = re.compile(r"""\benv\s*=\s*(?:[\[(](?P<many>[^\])]*)[\])]|['"]?(?P<one>\w+))""")
_URL = re.compile(r"""https?://(?:\[[0-9a-f:.]+\](?::\d+)?|[^\s,;()\[\]{}'"|]+)""", re.IGNORECASE)
_HUB = re.compile(r"\bhf:\S")
_READ = re.compile(
    r"""(?:\b(?:run|dir|gguf|template):|\+adapter:(?:[\w-]+=)?|\b(?:file|filename|path)\s*=\s*)['"]?"""
    r"""(?P<path>[^'",;()\[\]{}+@]+)"""
)


class NeedKind(IntEnum):
    """Kind of a need, the gravest first."""

    COMMAND = 1
    FILE = 2
    KEY = 3
    HOST = 4
    READ = 5


PHRASES = {
    NeedKind.COMMAND: "run the command",
    NeedKind.FILE: "run the file",
    NeedKind.KEY: "hand over the environment variable",
    NeedKind.HOST: "contact",
    NeedKind.READ: "read",
}


class Need(NamedTuple):
    """Something that a file asks for."""

    kind: NeedKind
    what: str
    """The whole text of a command, the path of a file, the name of a variable, or a host."""
    place: Path
    """File that names it."""
    text: str = ""
    """Text that names it."""

    @property
    def phrase(self) -> str:
        """The need in words: `run the file bots.py`."""
        return f"{PHRASES[self.kind]} {self.what}".replace("\n", "\\n")  # a line of its own could forge the question


def folder_of(place: Path) -> Path:
    """Return the folder of a file, which is that of its content where it is a link; a folder is its own."""
    whole = place.resolve()
    return whole if whole.is_dir() else whole.parent


def needs_of(text: str, place: Path, folder: Path | None = None) -> Iterator[Need]:
    """Yield the needs of a text that stands in the file at `place`, whose folder may be known already."""
    folder = folder or folder_of(place)
    if command_of(text) is not None:
        yield Need(NeedKind.COMMAND, text.strip(), place, text)
    for file in files_in([text], folder):
        yield Need(NeedKind.FILE, str(_resolve_file(file)), place, text)
    for name in keys_in(text):
        yield Need(NeedKind.KEY, name, place, text)
    for host in hosts_in(text):
        yield Need(NeedKind.HOST, str(host), place, text)
    for path in reads_in(text, folder):
        if not path.is_relative_to(folder):
            yield Need(NeedKind.READ, str(path), place, text)


def command_of(text: str) -> str | None:
    """Return the command of an agent that a text names, alone or within another name; None where there is none."""
    whole = text.strip()
    if whole.casefold().startswith(COMMAND):
        return whole[len(COMMAND) :].strip()
    if (found := _COMMAND.search(whole)) is None:
        return None
    ends = found["quote"] or "[,)]"
    return re.split(ends, found["rest"], maxsplit=1)[0].strip()


def keys_in(text: str) -> Iterator[str]:
    """Yield the environment variables that a text hands over, as in `env=[KEY]`."""
    for found in _ENV.finditer(text):
        yield from re.findall(r"\w+", found["many"] or found["one"] or "")


def hosts_in(text: str) -> Iterator[Host]:
    """Yield the hosts that a text names."""
    for url in _URL.findall(text):
        with suppress(BadParameter):  # of an address that is refused where it is used
            yield host_of(url)
    if _HUB.search(text):
        yield Host(HUB, 443)


def reads_in(text: str, folder: Path | None = None) -> Iterator[Path]:
    """Yield the paths of models and data that a text names, from the working directory, or from the folder of it."""
    described = set(descriptions_in([text], folder))
    for name in (*(found["path"] for found in _READ.finditer(text)), *described):
        with suppress(OSError, ValueError, RuntimeError):  # no path can be so
            path = Path(name.strip()).expanduser()
            there = None if folder is None or path.exists() else folder / path
            found = there if there is not None and there.exists() else path
            if name not in described or found.exists():  # other texts end so, too, such as the recipes of a table
                yield found.resolve()


def texts_of(data: object) -> Iterator[str]:
    """Yield every text in a table."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping | list | tuple):
        for name, value in data.items() if isinstance(data, Mapping) else ((None, one) for one in data):
            yield from texts_of(value)
            if isinstance(name, str):
                yield name


def _resolve_file(file: str) -> Path:
    try:
        return find_file(file)
    except BadParameter:
        return Path(file)  # a mistake that has its own sentence where the file is loaded
