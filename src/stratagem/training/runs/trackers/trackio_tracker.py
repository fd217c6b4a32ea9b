"""Trackio: metrics and settings in a local database, or on a Space or a server that its variables name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.training.runs.trackers.base import Track, TrackedRun, Tracker, sentence


@dataclass(frozen=True, kw_only=True)
class Trackio(Tracker):
    """Tracker `trackio`; its own variables, such as TRACKIO_DIR and TRACKIO_SPACE_ID, hold."""

    package: ClassVar[str] = "trackio"
    project: str = "stratagem"
    """Project."""

    def __post_init__(self) -> None:
        if not isinstance(self.project, str) or not self.project:
            raise BadParameter(f"The tracker trackio needs `project` as a text, not {self.project!r}.")

    def open(self, run: TrackedRun) -> Track:
        import trackio

        try:
            with _quiet():
                opened = trackio.init(
                    self.project,
                    name=f"{run.name}-{run.id}",  # a name is what trackio resumes by
                    config=dict(run.config),
                    resume="allow",
                    embed=False,
                    auto_log_gpu=False,
                    auto_log_cpu=False,
                )
        except Exception as error:  # any failure of the package or of a server is told in one sentence
            raise StratagemError(f"Trackio cannot be used: {sentence(error)}.") from error
        return _TrackioRun(opened)


class _TrackioRun(Track):
    """Run of trackio."""

    def __init__(self, run: Any) -> None:
        self._run = run

    def write(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def close(self, *, failed: bool) -> None:
        import trackio

        ours = trackio.context_vars.current_run.get() is self._run
        with _quiet():
            trackio.finish() if ours else self._run.finish()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the package prints, texts of servers among it, from the terminal."""
    with redirect_stdout(StringIO()):
        yield
