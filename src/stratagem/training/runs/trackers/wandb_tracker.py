"""Weights & Biases: metrics and settings, and nothing else of the machine, the code or the output."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, StratagemError
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
