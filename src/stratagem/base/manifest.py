"""Manifest: the size and the digest of every file in a folder, to detect changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small

FILE = "manifest.json"
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


def entry_of(path: Path) -> Entry:
    """Return the size and the digest of a file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
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


def _read(folder: Path) -> dict[str, Entry]:
    """Read the manifest's entry of each file."""
    try:
        data = parse_json(read_small(folder / FILE))
        files = data["files"]
        if data["own"] == _own(files):
            return {name: (size, digest) for name, (size, digest) in files.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadRecord(f"{folder} is not whole: its {FILE} cannot be read.") from error
    raise BadRecord(f"{folder} is not whole: its {FILE} is not as it was written.")


def _own(files: object) -> str:
    """Return the digest of the manifest itself."""
    return hashlib.blake2b(json.dumps(files, sort_keys=True).encode(), digest_size=16).hexdigest()


def _files(folder: Path) -> list[Path]:
    """Return all files but the manifest.

    What it names is looked up among these, so it cannot lead out of the folder.
    """
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / FILE]
