"""A run is a folder, and what it is can be read from it: its settings, its seed, what made it, and how it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from stratagem.errors import BadRecord, StratagemError
from stratagem.provenance import provenance, source
from stratagem.runs.config_file import read_settings, read_toml, settings_digest, settings_toml
from stratagem.runs.files import new_folder, write_file
from stratagem.runs.lock import is_locked, locked
from stratagem.settings import Settings

_CONFIG, _INFO, _STATUS, _LOCK = "config.toml", "run.json", "status.json", "lock"
_LONGEST = 500
S = TypeVar("S", bound=Settings)


class Forced(Settings):
    """A time at which a run went on with another recipe than it was bound to, or began again, because of `--force`."""

    at: str
    """When, in UTC."""
    step: int | None
    """From which step; None where it began again."""
    recipe: str
    """The digest of the recipe from then on."""
    was: str
    """The digest of the recipe before."""
    commit: str | None
    """The program's commit then."""


class RunInfo(Settings):
    """What a run was begun with."""

    seed: int
    """What all that is random in it follows from."""
    command: str
    """The command that began it."""
    begun: str
    """When, in UTC."""
    commit: str | None
    """The program's commit; None where git does not keep it."""
    dirty: bool | None
    """Whether the program differed from that."""
    made_by: dict[str, Any]
    """The versions of the program and of its libraries, and the machine."""
    recipe: str = ""
    """The digest of what config.toml says; empty for runs from before there was one."""
    forced: tuple[Forced, ...] = ()
    """When it went on by --force, and with what recipe: `at`, `step`, `recipe`, `was`, `commit`."""


class Status(Settings):
    """How a run stands."""

    state: Literal["running", "finished", "failed"]
    sentence: str = ""
    """Why it failed."""
    since: str = ""
    """Since when, in UTC."""


@dataclass(frozen=True)
class RunFolder:
    """A run that is there; the names below are its parts, which need not all be there yet."""

    path: Path

    @classmethod
    def create(cls, path: Path, config: Settings, seed: int, command: str) -> Self:
        """A new run; where there is something already, nothing is changed."""
        if path.exists():
            raise StratagemError(
                f"There is something at {path} already: resume it, or name a folder that is not there."
            )
        text, digest = settings_toml(config), settings_digest(config)
        made_by = {**provenance(), "command": command}
        info = RunInfo(seed=seed, command=command, begun=_now(), made_by=made_by, recipe=digest, **source())

        def fill(folder: Path) -> None:
            write_file(folder / _CONFIG, text)
            write_file(folder / _INFO, _json(info))

        new_folder(path, fill)
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """A run that was begun before."""
        if not (path / _INFO).is_file():
            raise BadRecord(f"There is no run at {path}: a run is a folder with {_INFO} and {_CONFIG}.")
        return cls(path)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.path.resolve().name

    @property
    def record(self) -> Path:
        """What was played, as `stratagem.play.store` writes it."""
        return self.path / "record"

    @property
    def checkpoints(self) -> Path:
        """From where it can be resumed."""
        return self.path / "checkpoints"

    @property
    def set_aside(self) -> Path:
        """What happened after a checkpoint that the run was resumed from, and counts no more."""
        return self.path / "set-aside"

    def config(self, cls: type[S]) -> S:
        """Its settings."""
        return read_settings(cls, self.path / _CONFIG)

    def config_data(self) -> dict[str, Any]:
        """The same as its file says them."""
        return read_toml(self.path / _CONFIG)

    def say_info(self, info: RunInfo) -> None:
        """Write what it was begun with, after a change by force."""
        write_file(self.path / _INFO, _json(info))

    def info(self) -> RunInfo:
        """What it was begun with."""
        return _read(RunInfo, self.path / _INFO)

    def status(self) -> Status:
        """How it stands; a run whose process is gone without a word is no longer running."""
        held = is_locked(self.path / _LOCK)  # asked first, since who lets it go has written how it ended
        if not (self.path / _STATUS).is_file():
            return Status(state="failed", sentence="It was never begun.")
        said = _read(Status, self.path / _STATUS)
        if said.state != "running" or held:
            return said
        return Status(state="failed", sentence="Its process ended without a word: it can be resumed.", since=said.since)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Within, the run is running and nobody else can be at work on it; then it is finished, or failed."""
        with locked(self.path / _LOCK, f"the run {self.path}"):
            self._say("running")
            try:
                yield
            except BaseException as error:
                with suppress(StratagemError):  # if even this cannot be written, the first error is the one to see
                    self._say("failed", _sentence(error))
                raise
            self._say("finished")

    def _say(self, state: Literal["running", "finished", "failed"], sentence: str = "") -> None:
        write_file(self.path / _STATUS, _json(Status(state=state, sentence=sentence, since=_now())))


def find_runs(folder: Path) -> list[RunFolder]:
    """The runs that lie in a folder, by name."""
    return [RunFolder(path.parent) for path in sorted(folder.glob(f"*/{_INFO}")) if path.parent.name[0] != "."]


def _sentence(error: BaseException) -> str:
    """One sentence about what broke a run off."""
    if isinstance(error, KeyboardInterrupt):
        return "It was interrupted."
    said = " ".join(str(error).split())[:_LONGEST]
    return said if isinstance(error, StratagemError) else f"{type(error).__name__}: {said or 'no more was said'}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _json(settings: Settings) -> str:
    return json.dumps(settings.model_dump(mode="json"), indent=2) + "\n"


def _read(cls: type[S], path: Path) -> S:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadRecord(f"{path} cannot be read as JSON: {error}.") from error
    if not isinstance(data, dict):
        raise BadRecord(f"{path} should hold a JSON object.")
    return cls.read(data, path.name)
