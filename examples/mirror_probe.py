"""Probe of an audit: payoff of an agent beside copies of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from stratagem.measure.audit.measurement import Measurement, fill_figure
from stratagem.measure.audit.probes.base import ProbeFindings, Task
from stratagem.measure.matchups import Evaluator


class Mirror:
    """Mean payoff a round of the agent at a table of its own copies."""

    name: ClassVar[str] = "mirror"
    share: ClassVar[float] = 0.05
    quantities: ClassVar[Mapping[str, str]] = {"pay_mirror": "consistency"}

    def why_not(self, task: Task) -> str:
        if task.game.spec.utility == "zero-sum":
            return "In a zero-sum game copies have 0 on average."
        return "" if _episodes(task) >= 2 * task.game.spec.seats else f"{task.decisions} decisions are too few."

    def measure(self, task: Task) -> ProbeFindings:
        evaluator = Evaluator(_episodes(task), task.key, task.queue, task.record, budget=0, exact_budget=0)
        (matchup,) = evaluator.matchups(task.game, task.agent, [(task.agent, ())])
        how = "Mean payoff a round beside copies of itself, seats rotated over paired deals."
        figure = Measurement(name=task.name("pay_mirror"), group="consistency", unit=task.game.spec.unit, method=how)
        return ProbeFindings([fill_figure(figure, matchup.payoff(scaled=False))])


def _episodes(task: Task) -> int:
    """Return the number of episodes that the decisions allow, whole deals only: all seats are the agent's."""
    seats = task.game.spec.seats
    return int(task.decisions / (task.decisions_an_episode * seats)) // seats * seats
