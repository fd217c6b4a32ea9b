"""Probe of rules: questions that are made from the game itself, on legal actions, payoffs and who moves next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from stratagem.base.errors import StratagemError
from stratagem.games.quiz.questions import LETTERS
from stratagem.games.quiz.rules_quiz import RULE_KINDS, RulesQuiz, kinds_of
from stratagem.measure.audit.measurement import Measurement, fill_figure
from stratagem.measure.audit.probes.base import FIRST, ProbeFindings, Task, why_refused
from stratagem.measure.rates import rate
from stratagem.players.wrappers import check_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.verifier.audit_plan import SHARES

_LEAST = 8
"""Smallest number of questions of a kind."""
_ASKS = {
    "legal": "which of four actions it may choose",
    "payoffs": "what the turn that ends a round pays",
    "turns": "who moves after a turn",
}


class RulesProbe:
    """Share of right answers to questions about the rules, each with four answers of which one is right."""

    name: ClassVar[str] = "rules"
    share: ClassVar[float] = SHARES[name]
    quantities: ClassVar[Mapping[str, str]] = {
        "rules": "competence",
        **{f"rules_{kind}": "competence" for kind in RULE_KINDS},
    }

    def why_not(self, task: Task) -> str:
        if not task.agent.traits.reads_words:
            return "It reads no words."
        try:
            kinds = kinds_of(task.game)
            check_player(task.agent, _quiz(task))
        except StratagemError as error:
            return str(error)
        least = _LEAST * len(kinds)
        planned = f"{task.decisions} decisions are planned for it"
        return "" if task.decisions >= least else f"It takes at least {least} questions, and {planned}."

    def measure(self, task: Task) -> ProbeFindings:
        kinds = kinds_of(task.game)
        first = self._ask_questions(task, kinds[:1], FIRST)[kinds[0]]
        if reason := why_refused([episode.decisions[-1] for episode in first]):
            return ProbeFindings([replace(_figure(task, "rules", "Questions about the rules.", first), why_not=reason)])
        episodes = self._ask_questions(task, kinds, FIRST)
        if any(_is_answered(episode) for some in episodes.values() for episode in some):
            episodes = self._ask_questions(task, kinds, task.decisions // len(kinds))
        every = [episode for some in episodes.values() for episode in some]
        figures = [_figure(task, "rules", "Questions about the rules, with four answers each.", every)]
        if figures[0].why_not:
            return ProbeFindings(figures)
        figures += [_figure(task, f"rules_{kind}", f"Asked {_ASKS[kind]}.", episodes[kind]) for kind in kinds]
        return ProbeFindings(figures)

    def _ask_questions(self, task: Task, kinds: Sequence[str], number: int) -> Mapping[str, Sequence[Episode]]:
        """Ask so many questions of each kind; those of the record are not asked again."""
        setups = {kind: list(_setups(task, kind, number)) for kind in kinds}
        episodes = task.record.play([setup for some in setups.values() for setup in some], task.queue())
        return {kind: [episodes[setup.id] for setup in some] for kind, some in setups.items()}


def _quiz(task: Task, kind: str = "") -> RulesQuiz:
    return RulesQuiz(asked=task.game, text=task.text, kind=kind)


def _setups(task: Task, kind: str, number: int) -> Iterator[Setup]:
    match = Match(_quiz(task, kind), [task.agent])
    for place in range(number):
        name = f"{match.text}/{task.agent.name}/{place}"
        key = task.key.at("rules", kind, place)
        yield Setup(id=name, match=match, slots=(0,), key=key, purpose="probe", group=name)


def _is_answered(episode: Episode) -> bool:
    return episode.decisions[-1].action is not None


def _figure(task: Task, quantity: str, method: str, episodes: Sequence[Episode]) -> Measurement:
    """Return the share of right answers; the same question, drawn twice, is one observation."""
    answered = sum(map(_is_answered, episodes))
    figure = Measurement(
        name=task.name(quantity),
        group="competence",
        unit=task.unit(quantity),
        method=f"{method} Questions without an answer count as wrong: {len(episodes) - answered} of {len(episodes)}.",
        chance=1.0 / len(LETTERS),
        best=1.0,
    )
    if not answered:
        return replace(figure, why_not=f"It answered none of {len(episodes)} questions.")
    share = rate(episodes, lambda e: e.per_round(0), lambda _: 1.0, lambda e: e.decisions[-1].info_key)
    wrong = next((episode.id for episode in episodes if not episode.per_round(0)), "")
    return replace(fill_figure(figure, share), episode=wrong)
