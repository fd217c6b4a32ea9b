"""Trackers by name: Weights & Biases, and Trackio."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.registry import Registry, parse_call
from stratagem.training.runs.trackers.base import Track, TrackedRun, Tracker, sentence


@dataclass(frozen=True, kw_only=True)
class WandB(Tracker):
    """Tracker `wandb`; W&B's own variables, such as WANDB_MODE=offline and WANDB_BASE_URL, hold."""

    package: ClassVar[str] = "wandb"
    project: str = ""
    """Project; by default that of WANDB_PROJECT, or stratagem."""
    entity: str = ""
    """User or team; by default W&B's own default."""

    def __post_init__(self) -> None:
        for option in ("project", "entity"):
            if not isinstance(value := getattr(self, option), str):
                raise BadParameter(f"The tracker wandb needs `{option}` as a text, not {value!r}.")

    def open(self, run: TrackedRun) -> Track:
        import wandb

        settings = wandb.Settings(
            console="off",
            disable_code=True,
            disable_git=True,
            host="",
            save_code=False,
            silent=True,
            x_disable_machine_info=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_save_requirements=False,
        )
        try:
            opened = wandb.init(
                project=self.project or os.environ.get("WANDB_PROJECT") or "stratagem",
                entity=self.entity or None,
                id=run.id,
                name=run.name,
                dir=run.folder,
                config=dict(run.config),
                resume="allow",
                reinit="create_new",
                settings=settings,
            )
        except Exception as error:  # any failure of the service or of its client is told in one sentence
            raise StratagemError(f"W&B cannot be used: {sentence(error)}.") from error
        return _WandbRun(opened)


class _WandbRun(Track):
    """Run of W&B; a step that it already has is left out by W&B."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self.url = "" if run.offline else str(run.url or "")

    def write(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def close(self, *, failed: bool) -> None:
        self._run.finish(exit_code=int(failed))


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


TRACKERS: dict[str, Callable[..., Tracker]] = {"wandb": WandB, "trackio": Trackio}
"""Trackers by name; options follow in brackets: `wandb(project=kuhn)`."""

_registry: Registry[Tracker] = Registry("tracker", TRACKERS, "stratagem.trackers", Tracker)


def make_trackers(texts: Sequence[str]) -> list[Tracker]:
    """Make the trackers that texts name; one without its package is refused."""
    trackers = [_registry.make(parse_call(text)) for text in texts]
    if len({tracker.package for tracker in trackers}) < len(trackers):
        raise BadParameter(f"A run has each tracker once, unlike in {', '.join(texts)}.")
    for tracker in trackers:
        tracker.check()
    return trackers


def tracker_names() -> list[str]:
    """Return every name that `make_trackers` knows."""
    return _registry.names()
