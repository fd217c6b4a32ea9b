"""Manifest: the size and the digest of every file in a folder, to detect changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small, write_file

FILE = "manifest.json"
"""Manifest of a checkpoint or of weights, which is read each time that these are loaded: BLAKE2b, which is quick."""
DIGESTS = "digests.json"
"""Manifest of an audit or a run for others to check and to sign: SHA-256, which every machine has a program for."""
LOOSE = (
    *("lock", "*/lock", "status.json", "pace.json", "events.*", "*.partial", ".partial-*", "*/.partial-*"),
    *("card.html", "card.md", "junit.xml"),
)
"""Files of an audit or a run that change without a change of what it says, and forms of a card."""
RECORDED = ("records/", "record/")
"""Folders in which a file that `DIGESTS` does not name is a fault."""
LARGEST = 1 << 40
"""Largest number of bytes of a file that is read for its digest."""
_ABOVE = 3
"""Number of folders above a model's that may have its manifest: an adapter's is two above."""
Entry = tuple[int, str]
"""The size and the digest of a file."""


def write_manifest(folder: Path, besides: Collection[str] = ()) -> None:
    """Write the manifest of all files except some; it comes last."""
    there = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    files = {name: entry_of(path) for name, path in there.items() if name not in besides}
    text = json.dumps({"files": files, "own": _own(files)}, indent=2)  # without a last line break, any cut shows
    (folder / FILE).write_text(text, encoding="utf-8")


def write_digests(folder: Path) -> None:
    """Write the manifest of an audit or a run."""
    there = {path.relative_to(folder).as_posix(): path for path in _files(folder, DIGESTS)}
    kept = {name: path for name, path in there.items() if not any(fnmatch(name, loose) for loose in LOOSE)}
    files = {name: entry_of(path, "sha256") for name, path in kept.items()}
    write_file(folder / DIGESTS, json.dumps({"files": files, "own": _own(files)}, indent=2))


def drop_digests(folder: Path) -> None:
    """Remove the manifest of an audit or a run whose files are about to change."""
    (folder / DIGESTS).unlink(missing_ok=True)


def faults_of_digests(folder: Path) -> Iterator[str]:
    """Yield a sentence for each file of an audit or a run that is missing, changed, a link or not in its manifest."""
    if not (folder / DIGESTS).is_file():
        yield f"{DIGESTS} is missing, so a changed file cannot be noticed."
        return
    try:
        named = _read(folder, DIGESTS)
    except BadRecord as error:
        yield str(error)
        return
    there = {path.relative_to(folder).as_posix(): path for path in _files(folder, DIGESTS)}
    for name, entry in named.items():
        yield from _fault(name, there.get(name), entry)
    for name in there.keys() - named.keys():
        if name.startswith(RECORDED) and not any(fnmatch(name, loose) for loose in LOOSE):
            yield f"{name} is not named in {DIGESTS}."


def _fault(name: str, path: Path | None, entry: Entry) -> Iterator[str]:
    """Yield what is wrong with a file; of a name that leads elsewhere nothing is read."""
    if path is None:
        out = name.startswith("/") or ".." in name.split("/")
        yield f"{DIGESTS} names {name[:200]!r}, which is not in the folder." if out else f"{name} is missing."
    elif path.is_symlink():
        yield f"{name} is a link, which may lead out of the folder."
    elif path.stat().st_size != entry[0]:
        yield f"{name} has {path.stat().st_size:,} bytes, and had {entry[0]:,}."
    elif entry[0] > LARGEST:
        yield f"{name} is larger than {LARGEST >> 30} GiB, and is not read."
    elif entry_of(path, "sha256") != entry:
        yield f"{name} has changed."


def check_manifest(folder: Path, *, digests: bool = True) -> None:
    """Complain where a file is missing or changed; without `digests` only sizes are looked at, which is quick."""
    there = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    for name, entry in _read(folder).items():
        _check(folder, name, there.get(name), entry, digests)


def check_within(part: Path) -> None:
    """Check a model's folder against the manifest that names its files, there or above, if there is one.

    A file of weights that the manifest does not name is refused, too.
    """
    part = part.resolve()
    folder = next((one for one in (part, *part.parents[:_ABOVE]) if _is_ours(one / FILE)), None)
    if folder is None:
        return
    there = {path.relative_to(folder).as_posix(): path for path in _files(part)}
    prefix = "" if folder == part else f"{part.relative_to(folder).as_posix()}/"
    named = {name: entry for name, entry in _read(folder).items() if name.startswith(prefix)}
    for name, entry in named.items():
        _check(folder, name, there.get(name), entry, digests=True)
    if unnamed := [name for name in there if named and name.endswith(".safetensors") and name not in named]:
        raise BadRecord(f"{folder} is not whole: its {FILE} does not name {unnamed[0]}.")


def entry_of(path: Path, method: Literal["blake2b", "sha256"] = "blake2b") -> Entry:
    """Return the size and the digest of a file."""
    with path.open("rb") as file:
        made = hashlib.sha256 if method == "sha256" else lambda: hashlib.blake2b(digest_size=16)
        digest = hashlib.file_digest(file, made).hexdigest()
    return path.stat().st_size, digest


def _check(folder: Path, name: str, path: Path | None, entry: Entry, digests: bool) -> None:
    if path is None or path.stat().st_size != entry[0] or (digests and entry_of(path) != entry):
        raise BadRecord(f"{folder} is not whole: {name} is not as it was written.")


def _is_ours(path: Path) -> bool:
    """Return whether a file is a manifest of this kind, even a damaged one.

    Other programs have files of this name, too.
    """
    data = path.read_bytes() if path.is_file() else b""
    return b'"files"' in data and b'"own"' in data


def _read(folder: Path, file: str = FILE) -> dict[str, Entry]:
    """Read the manifest's entry of each file."""
    try:
        data = parse_json(read_small(folder / file))
        files = data["files"]
        if data["own"] == _own(files):
            return {name: (size, digest) for name, (size, digest) in files.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadRecord(f"{folder} is not whole: its {file} cannot be read.") from error
    raise BadRecord(f"{folder} is not whole: its {file} is not as it was written.")


def _own(files: object) -> str:
    """Return the digest of the manifest itself."""
    return hashlib.blake2b(json.dumps(files, sort_keys=True).encode(), digest_size=16).hexdigest()


def _files(folder: Path, besides: str = FILE) -> list[Path]:
    """Return all files but the manifest.

    What it names is looked up among these, so it cannot lead out of the folder.
    """
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / besides]
