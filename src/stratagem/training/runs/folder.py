"""Folder of a run: its settings, its seed, its provenance, and its status."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import Field

from stratagem import __version__
from stratagem.base.consent.trusted import is_trusted
from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.files import parse_json, read_small, reason
from stratagem.base.lock import hold_lock, is_locked
from stratagem.base.manifest import drop_digests, write_digests
from stratagem.base.provenance import provenance, source
from stratagem.base.settings import Settings
from stratagem.playing.schemas import SCHEMAS
from stratagem.training.runs.config_file import read_settings, read_toml, settings_digest, settings_toml
from stratagem.training.runs.files import new_folder, write_file
from stratagem.training.runs.source_files import SourceFile, copy_source_files, source_files

_CONFIG, _INFO, _STATUS, _LOCK = "config.toml", "run.json", "status.json", "lock"
_SHOWN = frozenset({"record", "policies", "steps", *SCHEMAS})
"""Folders in that of a run or a record, whose files pages show."""
_LONGEST = 500
RELEASE = re.compile(r"[0-9][0-9a-z.+]{0,30}")
"""Number of a release, as a run may have it that is a stranger's."""
S = TypeVar("S", bound=Settings)
P = TypeVar("P")


FORMAT = 2
"""Format of the folder of a run; 1 is that of releases before 0.3.0, whose files have no number."""


class Rebinding(Settings):
    """Change of the recipe that a run is bound to.

    `--force` binds it to another recipe, and `stratagem upgrade` to the same recipe in new keys.
    """

    by: Literal["force", "upgrade"] = "force"
    """Command: `force` (`--force`), or `upgrade`."""
    at: str
    """Time in UTC."""
    step: int | None
    """Step of the newest checkpoint; None where there was none, so that the run starts again."""
    recipe: str
    """Digest of the recipe from then on."""
    was: str
    """Digest of the recipe before."""
    commit: str | None
    """Commit of the program."""


class RunInfo(Settings):
    """Provenance of a run."""

    format: int = 1
    """Format of the run's folder; a later one is refused."""
    seed: int
    """Seed of all randomness of the run."""
    command: str
    """Command that started the run."""
    begun: str
    """Start time in UTC."""
    commit: str | None
    """Commit of the program; None where git does not keep it."""
    dirty: bool | None
    """True if the program differed from that commit."""
    made_by: dict[str, Any]
    """Versions of the program and of its libraries, and the machine."""
    recipe: str = ""
    """Digest of config.toml; empty for runs of versions without digests."""
    rebound: tuple[Rebinding, ...] = ()
    """Changes of the recipe by --force or by an upgrade: `by`, `at`, `step`, `recipe`, `was`, `commit`."""
    files: tuple[SourceFile, ...] = ()
    """Python files of the recipe: `name`, `path`, `digest`, `copied_as`."""
    num_threads: int = 0
    """Number of threads of each process, settled when training begins."""
    reading: dict[str, str] = Field(default={})
    """Sentence by policy and component.

    Rollouts and training: whether its model shares prefixes of texts, and why; engine: certificate of an engine.
    """


RunState = Literal["running", "finished", "failed", "interrupted"]
"""State of a run; an interrupted one was ended by Ctrl-C, SIGTERM or a closed terminal, so nothing is wrong with it."""


class Status(Settings):
    """Status of a run."""

    state: RunState
    sentence: str = ""
    """Reason of a failure, in a sentence."""
    since: str = ""
    """Time of the last change of status in UTC."""


def is_run(path: Path) -> bool:
    """Return whether this is the folder of a run."""
    return os.path.isfile(path / _INFO)  # noqa: PTH113 - it raises nothing, whatever the path


def check_free(path: Path) -> None:
    """Refuse an existing file or folder as the place of a new run."""
    if path.exists():
        resumed = f"resume it by `stratagem train {shlex.quote(str(path))} --resume`, or " if is_run(path) else ""
        raise StratagemError(f"{path} exists already: {resumed}name a new folder by `out=`.")


@dataclass(frozen=True)
class RunFolder:
    """Existing run; the attributes below are its parts, which need not all exist yet."""

    path: Path

    @classmethod
    def create(cls, path: Path, config: Settings, seed: int, command: str) -> Self:
        """Create a run; an existing file or folder is not changed."""
        check_free(path)
        text, digest = settings_toml(config), settings_digest(config)
        made_by = {**provenance(), "command": command}
        files = source_files(text)
        info = RunInfo(
            format=FORMAT,
            seed=seed,
            command=command,
            begun=_now(),
            made_by=made_by,
            recipe=digest,
            files=files,
            **source(),
        )

        def fill(folder: Path) -> None:
            write_file(folder / _CONFIG, text)
            write_file(folder / _INFO, _json(info))
            copy_source_files(files, folder)

        new_folder(path, fill)
        return cls(path)

    @classmethod
    def open(cls, path: Path, hint: str = "") -> Self:
        """Open an existing run; `hint` ends the sentence that says there is none."""
        if not is_run(path):
            raise BadRecord(f"There is no run at {path}: a run is a folder with {_INFO} and {_CONFIG}{hint}.")
        check_links(path)
        return cls(path)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.path.resolve().name

    @property
    def record(self) -> Path:
        """Folder of the record, as `stratagem.playing.store` writes it."""
        return self.path / "record"

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints."""
        return self.path / "checkpoints"

    @property
    def set_aside(self) -> Path:
        """Folder of data that was set aside by a resume and does not count."""
        return self.path / "set-aside"

    def config(self, cls: type[S]) -> S:
        """Settings in the file; keys of earlier releases are read under their new names."""
        return read_settings(cls, own_file(self.path / _CONFIG))

    def config_data(self) -> dict[str, Any]:
        """Settings as the file has them."""
        return read_toml(own_file(self.path / _CONFIG))

    def save_info(self, info: RunInfo) -> None:
        """Write the provenance, after an addition or a change."""
        write_file(self.path / _INFO, _json(info))

    def add_reading(self, sentences: Mapping[str, str]) -> None:
        """Add to the provenance how models read texts."""
        info = self.info()
        if sentences.items() - info.reading.items():
            self.save_info(info.model_copy(update={"reading": info.reading | dict(sentences)}))

    def settle_threads(self, number: int) -> int:
        """Return the number of threads that the run began with, or note that it begins with this one."""
        info = self.info()
        if not info.num_threads:
            self.save_info(info.model_copy(update={"num_threads": number}))
        return info.num_threads or number

    def info(self) -> RunInfo:
        """Provenance of the run."""
        return _read(RunInfo, self.path / _INFO)

    def status(self) -> Status:
        """Read the status; a run whose process was killed is no longer running."""
        locked_now = is_locked(self.path / _LOCK)  # read first: the status is written before the lock is released
        if not (self.path / _STATUS).is_file():
            return Status(state="failed", sentence="It was never started.")
        status = _read(Status, self.path / _STATUS)
        if status.state != "running" or locked_now:
            return status
        return Status(state="failed", sentence="Its process was killed: it can be resumed.", since=status.since)

    @contextmanager
    def hold_folder(self) -> Iterator[None]:
        """Exclude other processes; the status stays as it is."""
        check_links(self.path)
        with hold_lock(self.path / _LOCK, f"the run {self.path}"):
            yield

    @contextmanager
    def at_work(self, prepare: Callable[[], P | None] | None = None) -> Iterator[P | None]:
        """Exclude other processes, prepare and mark the run as running; then mark its end.

        What `prepare` refuses leaves the status as it was.
        """
        check_links(self.path)
        with hold_lock(self.path / _LOCK, f"the run {self.path}"):
            prepared = prepare() if prepare else None
            try:  # an interrupt may come while a status is written, too
                drop_digests(self.path)
                self._save_status("running")
                yield prepared
                self._save_status("finished")
                write_digests(self.path)
            except BaseException as error:
                with suppress(StratagemError):  # if even this cannot be written, the first error is the one to see
                    state: RunState = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
                    self._save_status(state, _sentence(error))
                raise

    def _save_status(self, state: RunState, sentence: str = "") -> None:
        write_file(self.path / _STATUS, _json(Status(state=state, sentence=sentence, since=_now())))


def find_runs(folder: Path) -> list[RunFolder]:
    """Find the runs in a folder, by name."""
    return [RunFolder(path.parent) for path in sorted(folder.glob(f"*/{_INFO}")) if path.parent.name[0] != "."]


def check_links(folder: Path) -> None:
    """Refuse the folder of a run with a link to a file elsewhere: to go on with it would write that file."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_symlink() and not path.is_dir():
            own_file(path)


def check_shown_links(folder: Path) -> None:
    """Refuse to show a run or a record with links out of its folder, unless the folder is trusted.

    Its page would hold files of the reader's, and pages are handed on. Weights are not shown, so checkpoints may lie
    elsewhere.
    """
    link = next((link for link in _links_of(folder) if _leads_out(link, folder)), None)
    if link is not None and not is_trusted(folder):
        raise BadRecord(
            f"{link} is a link out of the folder {folder.resolve().name}: put the file itself there, or allow its "
            "links by `stratagem trust FOLDER`."
        )


def _links_of(folder: Path) -> Iterator[Path]:
    """Yield the links in a folder and in those inside it whose files are shown."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            if entry.name in _SHOWN or not _is_folder(entry):
                yield Path(entry.path)
        elif entry.name in _SHOWN and entry.is_dir():
            yield from _links_of(Path(entry.path))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, through a file, or into a folder that may not be read
        return False


def _leads_out(link: Path, folder: Path) -> bool:
    try:
        return not link.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link to itself
        return True


def own_file(path: Path) -> Path:
    """Return the path of a file of a run; a pipe in its place is refused, since reading it would wait for ever.

    A link that leads out of the folder is refused, too: a report of the run would show a file of the reader's.
    """
    if path.exists() and not path.is_file():
        raise BadRecord(f"{path} should be a file: restore it.")
    if path.is_symlink() and _leads_out(path, path.parent):
        raise BadRecord(f"{path} is a link to a file outside its run: put the file itself there.")
    return path


def _sentence(error: BaseException) -> str:
    """Describe in one sentence the error that stopped a run."""
    if isinstance(error, KeyboardInterrupt):  # SIGTERM among them
        return "It was interrupted: it can be resumed."
    text = " ".join(str(error).split())[:_LONGEST]
    return text if isinstance(error, StratagemError) else f"{type(error).__name__}: {text or 'no message'}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _json(settings: Settings) -> str:
    return json.dumps(settings.model_dump(mode="json"), indent=2) + "\n"


def _read(cls: type[S], path: Path) -> S:
    try:
        data = parse_json(read_small(own_file(path)))
    except (OSError, ValueError) as error:
        raise BadRecord(f"{path} cannot be read as JSON: {reason(error)}.") from error
    if not isinstance(data, dict):
        raise BadRecord(f"{path} should hold a JSON object.")
    _check_format(data, path)
    return cls.read_old(data, str(path))


def _check_format(data: Mapping[str, Any], path: Path) -> None:
    """Refuse a folder that a later release has written."""
    if isinstance(number := data.get("format"), int) and number > FORMAT:
        made_by = data.get("made_by")
        release = str(made_by.get("stratagem", "")) if isinstance(made_by, Mapping) else ""
        raise BadRecord(
            f"{path} has format {number}, which Stratagem {release if RELEASE.fullmatch(release) else 'of its time'} "
            f"reads: this is Stratagem {__version__}, and it reads formats up to {FORMAT}."
        )
