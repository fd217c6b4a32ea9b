"""Pace of an audit in decisions a second, and the time that it needs: from its own first steps, or as stated."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small, write_file
from stratagem.base.options import is_number
from stratagem.measure.audit.cost import cost_of
from stratagem.measure.audit.plan import AuditPlan
from stratagem.measure.resumable import ResumableRecord
from stratagem.playing.records import Episode

FILE = "pace.json"
KEPT_AFTER = 10.0
"""Seconds after which the pace of a step that goes on is written."""
LONG_EPISODE = 50
"""Number of decisions of all seats in an episode from which a game is long."""
LONG_AUDIT = 50_000
"""Number of decisions from which an audit is long."""


@dataclass(frozen=True)
class Pace:
    """Decisions that were measured, in so many seconds."""

    decisions: int = 0
    seconds: float = 0.0

    @property
    def per_second(self) -> float | None:
        """Decisions a second; None where nothing was measured."""
        return self.decisions / self.seconds if self.decisions and self.seconds else None

    def plus(self, decisions: int, seconds: float) -> Pace:
        """Add what was measured."""
        return Pace(self.decisions + decisions, self.seconds + seconds)


def read_pace(out: Path | None) -> Pace:
    """Read the pace of an audit in its folder; nothing measured where there is none."""
    file = None if out is None else out / FILE
    if file is None or not file.is_file():
        return Pace()
    try:
        data = parse_json(read_small(file))
        if not all(is_number(data[name]) and data[name] >= 0 for name in ("decisions", "seconds")):
            raise ValueError
        return Pace(int(data["decisions"]), float(data["seconds"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadRecord(f"{file} is no pace of an audit.") from error


Show = Callable[[int, int, str], None]
"""Shows the number of decisions that are done, the number of all, and a text."""


class Stopwatch:
    """Measures the pace of the steps of an audit, shows how far it is, and keeps the pace in its folder."""

    def __init__(self, plan: AuditPlan, agent: str, out: Path | None, show: Show) -> None:
        self.pace = read_pace(out)
        self._agent, self._out, self._show = agent, out, show
        self._kept = time.monotonic()
        self._left = [step.decisions for step in plan.steps if not step.why_not]
        self._total = sum(self._left)
        self._calls, self._money = 0, 0.0

    @contextmanager
    def step(self, record: ResumableRecord, title: str) -> Iterator[None]:
        """Measure a step within; decisions that stood in the record before are not counted."""
        before, start = self.pace, time.monotonic()
        fresh = 0

        def count(episode: Episode) -> None:
            nonlocal fresh
            cost = cost_of([episode], self._agent)
            fresh += cost.decisions
            self._calls += cost.calls
            self._money += cost.money or 0.0
            self.pace = before.plus(fresh, round(time.monotonic() - start, 3))
            if time.monotonic() - self._kept > KEPT_AFTER:  # so that a killed audit has a pace too
                self._keep()
            self._say(title, min(fresh, self._left[0]))

        record.watch = count
        self._say(title, 0)
        try:
            yield
        finally:  # an interrupted step counts as far as it came
            if fresh:
                self.pace = before.plus(fresh, round(time.monotonic() - start, 3))
                self._keep()
        self._left = self._left[1:]

    def _keep(self) -> None:
        self._kept = time.monotonic()
        if self._out is not None:
            data = {"decisions": self.pace.decisions, "seconds": self.pace.seconds}
            write_file(self._out / FILE, json.dumps(data) + "\n")

    def _say(self, title: str, done: int) -> None:
        """Show the step, the decisions so far, their calls and price, and the time left where the pace is known."""
        left = sum(self._left) - done
        calls = f", {self._calls:,} calls" if self._calls else ""
        money = f", price {self._money:.4f}" if self._money else ""
        rate = self.pace.per_second
        time_left = f", about {in_words(left / rate)} left" if rate else ""
        self._show(self._total - left, self._total, f"{title}{calls}{money}{time_left}")


def in_words(seconds: float) -> str:
    """Write a time: in seconds, minutes or hours."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


def decisions_of(plan: AuditPlan) -> int:
    """Return the largest number of decisions of an audit, with those of the baseline."""
    own = sum(step.most for step in plan.steps)
    return own + (decisions_of(plan.baseline) if plan.baseline else 0)


def warnings_of(plan: AuditPlan) -> Sequence[str]:
    """Return a sentence for each game with long episodes, and one where many decisions are asked for."""
    lines = []
    for game in plan.games:
        task = plan.task(next(step for step in plan.steps if step.game == game), None)
        decisions = sum(step.decisions for step in plan.steps if step.game == game)
        seats, length = task.game.spec.seats, task.decisions_an_episode
        if decisions and length * seats > LONG_EPISODE:
            lines.append(
                f"{game} is long: an episode has about {length * seats:.0f} decisions of {seats} seats, and "
                f"{decisions:,} decisions of the agent are planned, each of one call of a model or more."
            )
    if (total := decisions_of(plan)) > LONG_AUDIT:
        lines.append(f"This audit asks for {total:,} decisions, each of one call of a model or more.")
    return lines
