"""Files of a board: copies of cards and of records, which lie beside the page under their digests.

A board is made to be published, so its links stay inside what is published. An audit may come from anybody: of its
folder nothing is copied but what an audit writes, and no link of the disk is followed.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from stratagem.base.errors import BadRecord
from stratagem.base.files import PARTIAL, read_bounded, telling_below
from stratagem.base.manifest import DIGESTS
from stratagem.measure.audit.card import FILE, Card, read_card
from stratagem.measure.audit.plan import RECORDS
from stratagem.measure.audit.run import BASELINE
from stratagem.measure.resumable import PLAN, read_plan

ENDINGS = (".json", ".jsonl", ".parquet", ".md")
"""Endings of the files that audits write."""
_SHORT = 16
"""Characters of a digest in the name of a file."""
_BLOCK = 1 << 20
_SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of all members of an archive, so that equal records have equal digests."""


@dataclass(frozen=True)
class LinkedFile:
    """File that a page links to."""

    name: str
    """Name in the folder of the files."""
    digest: str
    """SHA-256 of its bytes."""
    size: int


@dataclass(frozen=True)
class AuditSource:
    """Audit on a board."""

    card: Card
    file: Path
    """File of the card."""
    folder: Path | None
    """Folder with the record; None where the card came alone."""
    named: bool = True
    """True where the card was named by its own file, so that it may be a link."""

    @property
    def plan(self) -> dict[str, Any]:
        """Settings of the audit; empty where they are not there, or where a link is in their place."""
        if self.folder is None or (self.folder / PLAN).is_symlink():
            return {}
        return read_plan(self.folder) or {}

    def refuse_link(self) -> None:
        """Refuse to publish the card of a folder that is a link."""
        if self.file.is_symlink() and not self.named:
            raise BadRecord(f"{self.file} is a link, and a board follows none: name the card's own file.")

    @property
    def command(self) -> str:
        """Command that makes the audit; empty where its settings are not there."""
        plan = self.plan
        if not plan:
            return ""
        games, probes = _texts(plan.get("games")), _texts(plan.get("probes"))
        words = ["stratagem", "audit", str(plan.get("player", "")), "--games", *games]
        words += ["--decisions", str(plan.get("decisions", "")), "--seed", str(plan.get("seed", ""))]
        words += ["--against", str(plan["against"])] if "against" in plan else []
        return shlex.join([*words, *(word for probe in probes for word in ("--probe", probe)), "--out", "FOLDER"])


def _texts(values: object) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list) else []


def find_audit(path: Path) -> AuditSource:
    """Read an audit by its folder or its card, with the folder around a card that holds its record."""
    card, file = read_card(path), path / FILE if path.is_dir() else path
    around = file.name == FILE and (file.parent / RECORDS).is_dir()
    return AuditSource(card, file, file.parent if around else None, named=file == path)


def copy_card(audit: AuditSource, folder: Path) -> LinkedFile:
    """Copy the card of an audit."""
    try:
        data = read_bounded(audit.file)
    except (OSError, ValueError) as error:
        raise BadRecord(f"{audit.file} cannot be read: {error}.") from error
    digest = sha256(data).hexdigest()
    linked = LinkedFile(f"card-{digest[:_SHORT]}.json", digest, len(data))
    with telling_below(folder):
        (folder / linked.name).write_bytes(data)
    return linked


def pack_record(audit: AuditSource, folder: Path) -> LinkedFile | None:
    """Pack the card and the record of an audit into an archive; None where there is no record.

    Its content is a folder that `stratagem compare` and `stratagem leaderboard` read.
    """
    if audit.folder is None:
        return None
    partial = folder / f"{PARTIAL}{os.getpid()}-audit.zip"
    with telling_below(folder):
        try:
            with ZipFile(partial, "w", ZIP_DEFLATED) as archive:
                for name in sorted(_list_files(audit.folder)):
                    info = ZipInfo(name, _SAME_TIME)
                    info.compress_type = ZIP_DEFLATED
                    with (audit.folder / name).open("rb") as file, archive.open(info, "w") as member:
                        while block := file.read(_BLOCK):
                            member.write(block)
            with partial.open("rb") as file:
                digest = _digest_of(iter(lambda: file.read(_BLOCK), b""))
            linked = LinkedFile(f"audit-{digest[:_SHORT]}.zip", digest, partial.stat().st_size)
            partial.replace(folder / linked.name)
        finally:
            partial.unlink(missing_ok=True)
    return linked


def _digest_of(blocks: Iterator[bytes]) -> str:
    digest = sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def _list_files(folder: Path) -> Iterator[str]:
    """Yield the names of the files that belong to an audit; links of the disk are left out."""
    for place, folders, files in os.walk(folder):
        above = Path(place).relative_to(folder)
        if above == Path():
            folders[:] = [name for name in folders if name in (RECORDS, BASELINE)]
            files = [name for name in files if name in (FILE, PLAN, DIGESTS)]
        for name in files:
            path = Path(place, name)
            if path.suffix in ENDINGS and not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield (above / name).as_posix()
