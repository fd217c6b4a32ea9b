"""Probe of other words: the same situations under renamed cards, actions and units, in another order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from stratagem.auditing.figure import Figure
from stratagem.auditing.permutation import Replies, differ
from stratagem.auditing.probes.base import Measured, Task
from stratagem.auditing.probes.replies import actions_of, askable, gain_of, tested_figure
from stratagem.errors import StratagemError
from stratagem.evaluation.memorisation import proof_of
from stratagem.evaluation.sampled.asking import Asker
from stratagem.evaluation.sampled.questions import Questions
from stratagem.evaluation.sampled.tally import apportioned
from stratagem.players.base import Player
from stratagem.players.disguised import disguised

_LEAST = 3.0
"""Smallest number of replies to a question in each of the two settings."""


class WordsProbe:
    """Total variation between the replies in plain words and in other words."""

    name: ClassVar[str] = "words"
    weight: ClassVar[float] = 0.2
    quantities: ClassVar[Mapping[str, str]] = {"words": "consistency"}

    def why_not(self, task: Task) -> str:
        if not task.agent.traits.reads_words:
            return "It reads no words."
        if reason := askable(task, 2 * _LEAST):
            return reason
        try:
            proof_of(task.game, disguised(task.agent, seed=1))
        except StratagemError as error:
            return str(error)
        return ""

    def measure(self, task: Task) -> Measured:
        questions = gain_of(task).questions
        other = disguised(task.agent, seed=1 + task.key.at("words").value % 1000)
        number = max(task.decisions // 2, len(questions))
        plain, changed = (self._replies(task, questions, agent, number) for agent in (task.agent, other))
        figure = Figure(
            name=task.name("words"),
            group="consistency",
            unit="total variation",
            method=f"The same {len(questions)} situations in plain words and as {other.name}.",
            null="it plays alike in other words",
        )
        return Measured([tested_figure(figure, differ(plain, changed, task.key), questions, [*plain, *changed])])

    def _replies(self, task: Task, questions: Questions, agent: Player, number: int) -> Replies:
        asker = Asker(questions.tree.game, agent, questions, task.key.at(agent.name), task.record, task.queue())
        asker.ask(apportioned(np.ones(len(questions)), number))
        return actions_of(questions, asker)
