"""Decisions of consent: what this command or program may run, contact and read, and the sentence that refuses.

Allowed is what the user named (a word of the command line, an argument of a call), what ships with the package, and
what a file in a trusted folder names. All else is asked for once on a terminal, and refused elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from stratagem.base.consent.needs import Need, NeedKind, command_of, folder_of, hosts_in, keys_in, needs_of, reads_in
from stratagem.base.consent.trusted import is_of_package, is_trusted, trust_folder
from stratagem.base.errors import BadParameter
from stratagem.base.hosts import Host, host_of, read_host
from stratagem.base.named_files import (
    COMMAND,
    SUFFIX,
    bind_file,
    files_in,
    find_file,
    is_file,
    look_up,
    naming,
    odd_character,
    table,
)

Asker = Callable[[Sequence[Need], Path], bool]
"""Question to the user whether to trust a folder, for these needs."""


@dataclass
class Consent:
    """Permissions of this process, and what files have asked for."""

    texts: set[str] = field(default_factory=set)
    """Allowed texts that name commands."""
    files: set[Path] = field(default_factory=set)
    """Allowed Python files."""
    names: set[str] = field(default_factory=set)
    """Allowed names of games, which are made without bounds."""
    hosts: set[Host] = field(default_factory=set)
    reads: set[Path] = field(default_factory=set)
    """Allowed paths of models and data outside the folder that names them."""
    needs: dict[Need, bool] = field(default_factory=dict)
    """Everything that files asked for, and whether it is allowed."""
    strangers: set[Path] = field(default_factory=set)
    """Files outside the trusted folders that named something: they may not call a function of a trusted file."""
    strict: bool = False
    """True where every server has to be allowed: names may come from files, or from a page."""

    @property
    def allowed(self) -> tuple[object, ...]:
        """All that is allowed, to see whether it has grown."""
        return (
            set(self.texts),
            set(self.files),
            set(self.names),
            set(self.hosts),
            set(self.reads),
            set(self.strangers),
            self.strict,
        )


_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")
"""Name within a text, as in `--set games=["ipd(rounds=9)"]`."""
_consent = Consent()
_asker: Asker | None = None


def consent() -> Consent:
    """Return what is allowed in this process."""
    return _consent


def take(given: Consent) -> None:
    """Take over what is allowed in another process, which asks nobody."""
    global _consent, _asker
    _consent, _asker = given, None


@contextmanager
def commanding(words: Iterable[str] = (), asker: Asker | None = None, *, strict: bool = True) -> Iterator[None]:
    """Begin a command with the words of its line; afterwards what was named and allowed before holds again.

    A program that is not `strict` may ask any server, since it names them itself.
    """
    global _consent, _asker
    before, _consent, _asker = (_consent, _asker), Consent(strict=strict), asker
    try:
        with naming():
            allow_named(words)
            yield
    finally:
        _consent, _asker = before


@contextmanager
def reading_files(*things: str) -> Iterator[None]:
    """Restrict servers to allowed ones while names come from files, and allow these things meanwhile."""
    global _consent
    before, _consent = _consent, _copy(_consent)
    try:
        _consent.strict = True
        allow(*things)
        yield
    finally:
        before.needs.update(_consent.needs)
        _consent = before


def _copy(of: Consent) -> Consent:
    """Return the same permissions, to which more can be added, for files that have asked for nothing yet."""
    return replace(
        of,
        texts={*of.texts},
        files={*of.files},
        names={*of.names},
        hosts={*of.hosts},
        reads={*of.reads},
        strangers={*of.strangers},
        needs={},
    )


def never_ask() -> None:
    """Ask nobody from now on, as in a server, whose terminal nobody may watch."""
    global _asker
    _asker = None


def allow_named(
    texts: Iterable[str], folder: Path | None = None, may_run: Callable[[Path], bool] = lambda file: True
) -> None:
    """Allow all that texts of the user name; files are looked for in the working directory, and then in `folder`.

    `may_run` leaves out files that others could have put into the working directory.
    """
    for text in list(texts):
        _consent.reads.update([Path(text).resolve()] if is_file(Path(text)) else [])
        if text.isidentifier():  # as most keys and names: it has no `:`, `.`, `=` or quote, as all below need
            _consent.names.add(text)
            continue
        look_up([text], folder)
        table().asked.update(files_in([text], folder))
        _consent.files.update(filter(may_run, _files(text, folder)))
        _consent.texts.update([text] if command_of(text) is not None else [])
        _consent.names.update([text.strip(), *(one or other for one, other in _QUOTED.findall(text))])
        _consent.hosts.update(hosts_in(text))
        _consent.reads.update(reads_in(text, folder))


def note_named(place: Path, texts: Iterable[str], *, looks_there: bool = True) -> None:
    """Note what texts in the file at `place` name; it is allowed if the file is trusted, or was allowed to run.

    With `looks_there` Python files are looked for in its folder, too.
    """
    own = folder_of(place)
    folder, texts = own if looks_there else None, list(texts)
    naming = [text for text in texts if not text.isidentifier()]
    look_up(naming, folder)
    if place.resolve() in _consent.files or is_trusted(place):
        _consent.strangers.discard(place)
        allow_named(texts, folder, lambda file: file.is_relative_to(own) or is_trusted(file))
    else:
        _consent.strangers.add(place)
    read = (path for text in naming for path in reads_in(text, own))
    _consent.reads.update(path for path in read if path.is_relative_to(own))
    _consent.needs.update((need, is_allowed(need)) for text in naming for need in needs_of(text, place, own))


def allow(*things: str | Path) -> None:
    """Allow single things: a Python file to run, a command `cmd:...`, a host, or a file to read."""
    for thing in map(str, things):
        ALLOWING[kind_of(thing)](thing)


def allow_command(text: str) -> None:
    """Allow a command: `cmd:PROGRAM`, `PROGRAM`, or the whole name of an agent with the variables that it gets."""
    allow_named([text if COMMAND in text.casefold() else f"{COMMAND}{text}"])


def allow_file(text: str) -> None:
    """Allow a Python file to run, or another file to be read."""
    path = find_file(text) if text.endswith(SUFFIX) else Path(text).resolve()
    bind_file(path.name, path)
    if path.suffix == SUFFIX:
        _consent.files.add(path)
    _consent.reads.add(path)


def allow_host(text: str) -> None:
    """Allow a server, by its host or by its host and port."""
    if (host := read_host(text)) is None:
        raise BadParameter(f"{text!r} can be no host, and there is no such file: say HOST, HOST:PORT or a path.")
    _consent.hosts.add(host)


ALLOWING = {"command": allow_command, "file": allow_file, "host": allow_host}
"""Function that allows a thing, by its kind."""


def kind_of(thing: str) -> str:
    """Return what a thing is that may be allowed: file, command or host."""
    if COMMAND in thing.casefold():
        return "command"
    return "file" if thing.endswith(SUFFIX) or is_file(Path(thing)) or Path(thing).is_absolute() else "host"


def is_allowed(need: Need) -> bool:
    """Return whether a need is allowed."""
    match need.kind:
        case NeedKind.COMMAND | NeedKind.KEY:
            return _may_run(command_of(need.text) or "", tuple(keys_in(need.text)))
        case NeedKind.FILE:
            return _may_load(Path(need.what))
        case NeedKind.HOST:
            return (host := read_host(need.what)) is not None and _may_contact(host)
        case _:
            return may_read(Path(need.what))


def settle(files: Collection[Path]) -> None:
    """Ask once for all that these files ask for and is not allowed, or refuse it; `files` are resolved paths."""
    asked = (need for need in _consent.needs if need.place.resolve() in files)
    wanted = sorted((need for need in asked if not is_allowed(need)), key=lambda need: need.kind)
    for place in dict.fromkeys(need.place for need in wanted):
        some = [need for need in wanted if need.place == place]
        if not is_trusted(place) and not _agrees(some, folder_of(place)):  # another file of its folder may have asked
            raise BadParameter(_refusal(some, place, folder_of(place)))
        note_named(place, {need.text: None for need in some})
        if lacking := [need for need in some if not is_allowed(need)]:  # as a file of a third folder
            raise BadParameter(_refusal(lacking, place, folder_of(place)))


def _agrees(needs: Sequence[Need], folder: Path) -> bool:
    """Ask whether to trust a folder, where there is somebody to ask."""
    if _asker is None or not _asker(needs, folder):
        return False
    trust_folder(folder)
    return True


def _refusal(needs: Sequence[Need], place: Path, folder: Path) -> str:
    asked = ", ".join(dict.fromkeys(need.phrase for need in needs))
    alone = " and ".join(dict.fromkeys(f"`sg.allow({_thing(need)!r})`" for need in needs))
    return (
        f"{place} would {asked}, which you have not named: if you trust what lies in its folder, say "
        f"`sg.trust({str(folder)!r})`, or allow this alone with {alone}."
    )


def _thing(need: Need) -> str:
    """Return what a user allows for a need: for a variable the whole name of the agent that gets it."""
    return need.text.strip() if need.kind is NeedKind.KEY else need.what


def check_file(file: str, path: Path) -> None:
    """Refuse to load a file that is not allowed."""
    if _may_load(path) or _agrees([Need(NeedKind.FILE, str(path), path)], path.parent):
        return
    odd = odd_character(file)
    alone = f"; a path with the character {odd} counts as named only where it stands alone" if odd else ""
    raise BadParameter(
        f"{file} would run the file {path}, which you have not named, and which lies in no folder that you "
        f"trust{alone}: if you trust it, say `sg.trust({str(path.parent)!r})`, or add `sg.allow({str(path)!r})`."
    )


def check_command(command: str, keys: Sequence[str] = ()) -> None:
    """Refuse to run the command of an agent, or to hand over variables to it, where that is not allowed."""
    if not _may_run(command, keys):
        handed = f" with the environment variables {', '.join(keys)}" if keys else ""
        whole = f"agent({COMMAND + command!r}, env=[{', '.join(keys)}])" if keys else COMMAND + command
        raise BadParameter(
            f"{COMMAND}{command} would run a program{handed}, which neither you nor a file in a folder that you trust "
            f"has named: if you trust it, add `sg.allow({whole!r})`."
        )


def check_host(url: str) -> None:
    """Refuse a server that is not allowed."""
    host = host_of(url)
    if _consent.strict and not _may_contact(host):
        raise BadParameter(
            f"A server at {host} would be asked, which neither you nor a file in a folder that you trust has named: "
            f"if you trust it, add `sg.allow({str(host)!r})`."
        )


def check_read(path: Path) -> None:
    """Refuse to read a file that only a page or a file outside the trusted folders names."""
    if _consent.strict and not may_read(path):
        raise BadParameter(
            f"The file {path} would be read, which neither you nor a file in a folder that you trust has named: if you "
            f"trust it, add `sg.allow({str(path.expanduser().resolve())!r})`."
        )


def is_given(name: str) -> bool:
    """Return whether the user named or allowed a game, so that it may be as large as it says."""
    return name.strip() in _consent.names


def may_read(path: Path) -> bool:
    """Return whether a file may be read that is no part of the package's own work."""
    whole = path.expanduser().resolve()
    return whole in _consent.reads or is_trusted(whole)


def _may_load(path: Path) -> bool:
    if is_of_package(path):
        return False  # its functions run commands and trust folders, and would do so for whoever names them
    return path in _consent.files or (not _consent.strangers and is_trusted(path))


def _may_run(command: str, keys: Sequence[str]) -> bool:
    pattern = re.compile(rf"(?i:{COMMAND})\s*{re.escape(command)}\s*([,)'\"\]]|$)")
    return any(
        (pattern.search(text) if not text.strip().casefold().startswith(COMMAND) else command_of(text) == command)
        and set(keys) <= set(keys_in(text))
        for text in _consent.texts
    )


def _may_contact(host: Host) -> bool:
    return any(known.covers(host) for known in _consent.hosts)


def _files(text: str, folder: Path | None) -> Iterator[Path]:
    """Yield the files of a text that there are."""
    for file in files_in([text], folder):
        try:
            yield find_file(file)
        except BadParameter:  # told where it is loaded
            continue
