"""A learner without a model: a table with a row of logits for each thing that its seat may be told.

With the style shapellm-state it is a memory-one policy of five rows, so whether a shaper shapes can be seen without a
language model in between. It follows the policy gradient of its mean payoff a step,

    logit(a | told) += rate * mean over decisions of  A (1[a = played] - pi(a | told))

with A the return from there on minus the mean of it over the environments at the same turn. The mean counts the return
itself, so with n environments a step is (n - 1) / n of one along the gradient, and one environment teaches nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.algorithms.shapellm.seat import Lesson, Play, Seat, lessons, taught_by
from stratagem.algorithms.shapellm.seat_settings import Tabular
from stratagem.errors import BadParameter
from stratagem.games.base import View
from stratagem.games.matrix import MatrixFacts
from stratagem.play.forks import steps
from stratagem.players.base import Ask, Mix, Move, Traits, draw
from stratagem.prompting.base import Style
from stratagem.prompting.catalogue import make_style
from stratagem.prompting.past import NOTHING, Past
from stratagem.training.stage import Metrics

Row = dict[str, float]
"""A logit for each action."""


@dataclass
class TabularLearner:
    """Plays the softmax of its rows; one that it has not met yet is as it was told to begin."""

    style: Style
    first: float | tuple[float, ...]
    name: str = "tabular"
    rows: dict[str, Row] = field(default_factory=dict)
    """By what the seat was told."""

    @property
    def traits(self) -> Traits:
        return Traits(stochastic=True, memory=self.style.memory)

    def turn(self, ask: Ask) -> Move:
        return Move(draw(self.policy(ask.view, ask.past), ask.key))

    def policy(self, view: View[Any], past: Past = NOTHING) -> Mix:
        """What it plays when it is told this."""
        row = self.row(view, past)
        most = max(row.values())
        weights = {action: math.exp(logit - most) for action, logit in row.items()}
        total = math.fsum(weights.values())
        return {action: weight / total for action, weight in weights.items()}

    def row(self, view: View[Any], past: Past = NOTHING) -> Row:
        """The logits of a situation, to be changed in place."""
        told = "\n".join(message.content for message in self.style.messages(view, past))
        if told not in self.rows:
            actions = list(view.choices)
            first = self.first if isinstance(self.first, float) else self.first[_state(view)]
            rest = (1.0 - first) / max(1, len(actions) - 1)
            self.rows[told] = {a: math.log(first if not n else rest) for n, a in enumerate(actions)}
        return self.rows[told]


class TabularSeat(Seat):
    """Learns a table."""

    def __init__(self, name: str, settings: Tabular, every: int) -> None:
        """`every` so many episodes it learns."""
        self.settings = settings
        self.table = TabularLearner(make_style(settings.style), settings.initial_probability, name)
        super().__init__(self.table, settings.memory, every)

    def update(self, data: Play) -> Metrics:
        stages, slot = data.stages, data.slot
        found = taught_by(lessons(stages, slot), lambda one: one.decision.action is not None)
        if not found:
            return {}
        advantages = self._advantages(found)
        views = {(e.id, row.turn): s.view(row.seat) for es in stages for e in es for s, r in steps(e) for row in r
                 if row.slot == slot}  # fmt: skip
        gradient: dict[int, Row] = {}
        rows: dict[int, Row] = {}
        for lesson, advantage in zip(found, advantages, strict=True):
            view, past = views[lesson.played.id, lesson.decision.turn], _past(lesson, slot)
            row, mix = self.table.row(view, past), self.table.policy(view, past)
            rows[id(row)] = row
            slope = gradient.setdefault(id(row), dict.fromkeys(row, 0.0))
            for action in row:
                slope[action] += advantage * ((action == lesson.decision.action) - mix[action])
        for name, row in rows.items():
            for action in row:
                row[action] += self.settings.learning_rate * gradient[name][action] / len(found)
        return {"score": math.fsum(lesson.reward for lesson in found) / len(found)}

    def _advantages(self, found: Sequence[Lesson]) -> list[float]:
        """Returns from each decision on, less their mean over the environments at that turn."""
        later: dict[int, float] = defaultdict(float)
        returns = [0.0] * len(found)
        for place in sorted(range(len(found)), key=lambda place: found[place].turn, reverse=True):
            lesson = found[place]
            later[lesson.episode] = lesson.reward + self.settings.discount * later[lesson.episode]
            returns[place] = later[lesson.episode]
        at_once: dict[tuple[int, int], list[float]] = defaultdict(list)
        for lesson, value in zip(found, returns, strict=True):
            at_once[lesson.turn].append(value)
        means = {turn: float(np.mean(values)) for turn, values in at_once.items()}
        return [value - means[lesson.turn] for lesson, value in zip(found, returns, strict=True)]

    def state(self) -> dict[str, Any]:
        return {"rows": {told: dict(row) for told, row in self.table.rows.items()}}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        self.table.rows = {told: dict(row) for told, row in state["rows"].items()}


def _state(view: View[Any]) -> int:
    """Which of the five states of a repeated game the seat is in, as tables of first policies count them."""
    if not isinstance(view.facts, MatrixFacts) or len(view.facts.labels) != 2 or len(view.facts.their_labels) != 2:
        raise BadParameter("A table begins with five probabilities in repeated games of two actions only: give it one.")
    facts = view.facts
    return 1 + 2 * facts.mine[-1] + facts.theirs[-1] if facts.mine else 0


def _past(lesson: Lesson, slot: int) -> Past:
    return lesson.played.pasts[slot] if lesson.played.pasts else NOTHING
