"""Probes of the same situations asked otherwise: in other words, in another style, and at temperature 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, cast

import numpy as np

from stratagem.base.errors import StratagemError
from stratagem.language.prompting.catalogue import another_style
from stratagem.measure.audit.measurement import Measurement, fill_figure
from stratagem.measure.audit.probes.base import FIRST, ProbeFindings, Task, why_refused
from stratagem.measure.audit.probes.replies import askable, gain_of, tested_figure
from stratagem.measure.memorisation import proof_of
from stratagem.measure.rates import wilson
from stratagem.measure.sampled.asking import ReplyAsker
from stratagem.measure.sampled.permutation import Replies, differ
from stratagem.measure.sampled.questions import TreeQuestions
from stratagem.measure.sampled.tally import apportion_replies
from stratagem.players.base import Player
from stratagem.players.disguised import disguise_player
from stratagem.players.language import LanguagePlayer
from stratagem.players.wrappers import check_player
from stratagem.verifier.audit_plan import SHARES

_LEAST = 3.0
"""Smallest number of replies to a question in each of the two settings."""


class AskedOtherwise(ABC):
    """Total variation between the replies of an agent in two settings, with a test that there is none."""

    name: ClassVar[str]
    share: ClassVar[float]
    quantities: ClassVar[Mapping[str, str]]
    null: ClassVar[str]

    @abstractmethod
    def other(self, task: Task) -> Player:
        """Return the agent in the other setting; refused where there is none."""

    def why_not(self, task: Task) -> str:
        if not task.agent.traits.reads_words:
            return "It reads no words."
        if reason := askable(task, 2 * _LEAST):
            return reason
        try:
            self.other(task)
        except StratagemError as error:
            return str(error)
        return ""

    def measure(self, task: Task) -> ProbeFindings:
        questions, other = gain_of(task).questions, self.other(task)
        figure = Measurement(
            name=task.name(self.name),
            group="consistency",
            unit=task.unit(self.name),
            method=f"The same {len(questions)} situations as it is, and as {other.name}.",
            null=self.null,
        )
        if reason := refusal(task, questions, other):
            return ProbeFindings([replace(figure, why_not=reason)])
        number = max(task.decisions // 2, len(questions))
        _, own = asked_evenly(task, questions, task.agent, number)
        asker, changed = asked_evenly(task, questions, other, number)
        return ProbeFindings([tested_figure(figure, differ(own, changed, task.key), asker, [*own, *changed])])


class WordsProbe(AskedOtherwise):
    """Replies in plain words, and under a disguise of the game."""

    name: ClassVar[str] = "words"
    share: ClassVar[float] = SHARES[name]
    quantities: ClassVar[Mapping[str, str]] = {"words": "consistency"}
    null: ClassVar[str] = "it plays alike in other words"

    def other(self, task: Task) -> Player:
        other = disguise_player(task.agent, seed=1 + task.key.at("words").value % 1000)
        check_player(other, task.game)
        proof_of(task.game, other)
        return other


class StyleProbe(AskedOtherwise):
    """Replies of a language model to prompts of its own style, and to those of another."""

    name: ClassVar[str] = "style"
    share: ClassVar[float] = SHARES[name]
    quantities: ClassVar[Mapping[str, str]] = {"style": "consistency"}
    null: ClassVar[str] = "it plays alike when it is asked in another style"

    def other(self, task: Task) -> Player:
        if not isinstance(task.agent, LanguagePlayer):
            raise StratagemError("It has no prompt style.")
        other = replace(task.agent, style=another_style(task.agent.style))
        check_player(other, task.game)
        return other


class RepeatProbe:
    """Share of questions that always get the same action at temperature 0, from a model behind a server."""

    name: ClassVar[str] = "repeat"
    share: ClassVar[float] = SHARES[name]
    quantities: ClassVar[Mapping[str, str]] = {"repeat": "consistency"}

    def why_not(self, task: Task) -> str:
        if not isinstance(task.agent, LanguagePlayer) or task.agent.traits.repeats:
            return "It is no model behind a server."
        return askable(task, 2.0)

    def measure(self, task: Task) -> ProbeFindings:
        questions = gain_of(task).questions
        cold, times = replace(cast("LanguagePlayer", task.agent), temperature=0.0), task.decisions // len(questions)
        figure = Measurement(
            name=task.name("repeat"),
            group="consistency",
            unit=task.unit("repeat"),
            method=f"The same action {max(2, times)} times at temperature 0.",
            best=1.0,
        )
        if reason := refusal(task, questions, cold):
            return ProbeFindings([replace(figure, why_not=reason)])
        asker, replies = asked_evenly(task, questions, cold, max(2, times) * len(questions))
        repeated = sum(len(some) > 1 for some in replies)
        if not repeated:
            return ProbeFindings([replace(figure, why_not="No question has two replies.")])
        varied = [number for number, some in enumerate(replies) if len(set(some)) > 1]
        share = wilson(repeated - len(varied), repeated)
        figure = replace(figure, episode=asker.episode_id(varied[0]) if varied else "")
        return ProbeFindings([fill_figure(figure, share)])


def refusal(task: Task, questions: TreeQuestions, agent: Player) -> str:
    """Return the reason why an agent is not asked so, where it gives no reply to the first questions; else nothing.

    These are among those that are asked anyway, and so few that no server counts as failed by them.
    """
    asker = ReplyAsker(agent, questions, task.key.at(agent.name), task.record, task.queue())
    rows = asker.ask((np.arange(len(questions)) < FIRST).astype(np.int64))
    return why_refused([row for some in rows for row in some])


def asked_evenly(task: Task, questions: TreeQuestions, agent: Player, number: int) -> tuple[ReplyAsker, Replies]:
    """Ask an agent so many questions, each as often, and return its actions."""
    asker = ReplyAsker(agent, questions, task.key.at(agent.name), task.record, task.queue())
    asker.ask(apportion_replies(np.ones(len(questions)), number))
    return asker, asker.actions
