"""A manifest: the size and the digest of every file in a folder, by which it is known whether they are as written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path

from stratagem.errors import BadRecord

_FILE = "manifest.json"


def write_manifest(folder: Path, besides: Collection[str] = ()) -> None:
    """Write the manifest of all files that are there but some; it comes last."""
    there = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    files = {name: [path.stat().st_size, _digest(path)] for name, path in there.items() if name not in besides}
    text = json.dumps({"files": files, "own": _own(files)}, indent=2)  # without a last line break, any cut shows
    (folder / _FILE).write_text(text, encoding="utf-8")


def check_manifest(folder: Path, *, digests: bool = True) -> None:
    """Complain where a file is missing or changed; without `digests` only sizes are looked at, which is quick."""
    there = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    for name, (size, digest) in _read(folder).items():
        path = there.get(name)
        if path is None or path.stat().st_size != size or (digests and _digest(path) != digest):
            raise BadRecord(f"{folder} is not whole: {name} is not as it was written.")


def _read(folder: Path) -> dict[str, tuple[int, str]]:
    """What the manifest says of each file."""
    try:
        data = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        files: dict[str, tuple[int, str]] = data["files"]
        if data["own"] == _own(files):
            return files
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadRecord(f"{folder} is not whole: its {_FILE} cannot be read.") from error
    raise BadRecord(f"{folder} is not whole: its {_FILE} is not as it was written.")


def _own(files: object) -> str:
    """The digest of the manifest itself."""
    return hashlib.blake2b(json.dumps(files, sort_keys=True).encode(), digest_size=16).hexdigest()


def _files(folder: Path) -> list[Path]:
    """All files but the manifest; what it names is looked up among these, so it cannot lead out of the folder."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / _FILE]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
