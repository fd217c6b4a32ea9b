"""Probe of replies: the agent is asked about every situation of a game whose tree can be walked.

From the same replies come its exploitability, its dominated actions, its illegal replies, and whether it stays one
agent in the course of the audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game
from stratagem.games.forfeits import FORFEIT, can_forfeit
from stratagem.games.key import Key
from stratagem.games.tree_sets import InformationSet
from stratagem.games.tree_size import estimated_size
from stratagem.games.tree_walk import QUICK
from stratagem.measure.audit.measurement import Measurement, fill_figure, of_exploitability
from stratagem.measure.audit.probes.base import ProbeFindings, Task
from stratagem.measure.audit.probes.strategy import most_replayed, replay_strategy, strategy
from stratagem.measure.dominance import DominatedPlay, dominated_actions
from stratagem.measure.exploitability.replies import is_certain, of_limits
from stratagem.measure.exploitability.result import Exploitability
from stratagem.measure.rates import wilson
from stratagem.measure.sampled.asking import ReplyAsker
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import FEW, ExploitabilityLimits, certain_limits, measured_limits, most_replies
from stratagem.measure.sampled.permutation import PermutationTest, Replies, find_change, follow
from stratagem.measure.sampled.questions import questions_of
from stratagem.measure.tree_policy import reply_oracle
from stratagem.verifier.audit_plan import SHARES

_TOLERATED = 0.02
"""Share of illegal replies up to which none is an alarm."""
_SILENT = "It gave no reply to any question."


def gain_of(task: Task) -> ResponseGain:
    """Return the gain from the agent in the game of a task, one round where rounds know nothing of each other."""
    oracle = reply_oracle(task.game, task.agent)
    return ResponseGain(oracle, questions_of(oracle.tree, task.agent))


@lru_cache(maxsize=64)
def _size_of(game: Game[Any], key: Key) -> float:
    """Return the estimated size of what is walked, cached, since several probes of a plan ask for it."""
    return estimated_size(game, key, one_round=game.spec.independent_rounds > 0)


def askable(task: Task, least: float = FEW) -> str:
    """Return why not every situation can be asked about; empty where it can be, at least so often each."""
    game = task.game
    if game.spec.seats < 2:
        return f"{task.text} has one seat."
    try:
        if game.spec.on_illegal != "default" and task.agent.traits.fallible and not can_forfeit(game):
            return f"{task.text} has no action for an illegal reply."
        if _size_of(game, task.key) > QUICK:
            return f"The tree of {task.text} is too large to be walked."
        questions = gain_of(task).questions
    except CannotCompute as error:
        return str(error)
    if task.decisions < least * len(questions):
        return (
            f"{task.text} has {len(questions)} situations to ask about, {least:g} times each, and {task.decisions} "
            "decisions are planned for it."
        )
    return ""


class RepliesProbe:
    """Exploitability with limits, dominated and illegal replies, and changes in the course of the audit."""

    name: ClassVar[str] = "replies"
    share: ClassVar[float] = SHARES[name]
    quantities: ClassVar[Mapping[str, str]] = {
        "exploitability": "exploitability",
        "dominated": "competence",
        "illegal": "competence",
        "change": "consistency",
        "sequence": "consistency",
    }

    def why_not(self, task: Task) -> str:
        return askable(task)

    def most_further(self, task: Task) -> int:
        """Return the largest number of decisions beyond the plan.

        Each stage asks each question once at least, and some games show what exploits the agent.
        """
        gain = gain_of(task)
        asked = len(gain.questions) if is_certain(task.agent) else most_replies(len(gain.questions), task.decisions)
        return max(0, asked - task.decisions) + most_replayed(gain)

    def measure(self, task: Task) -> ProbeFindings:
        gain = gain_of(task)
        asker = ReplyAsker(task.agent, gain.questions, task.key, task.record, task.queue())
        limits, why_not = _limits(task, gain, asker)
        replies = asker.actions
        figures = [
            exploitability(task, gain, asker, limits, why_not),
            dominated_share(task, asker),
            illegal(task, asker),
            self._change(task, asker, replies),
            self._sequence(task, asker, replies),
        ]
        if limits is None or limits.lower == 0.0:
            known = (None, None) if limits is None else (limits.gain, limits.tally)
            return ProbeFindings(figures, gain=known[0], tally=known[1])
        figures[0] = replace(figures[0], episode=replay_strategy(task, gain, limits))
        return ProbeFindings(figures, strategy(gain, limits), limits.gain, limits.tally)

    def _change(self, task: Task, asker: ReplyAsker, replies: Replies) -> Measurement:
        tested = find_change(replies, task.key)
        return tested_figure(
            Measurement(
                name=task.name("change"),
                group="consistency",
                unit=task.unit("change"),
                method="Early replies to each question against late ones, for the best of five places to cut.",
                null="the replies do not change in the course of the audit",
            ),
            tested,
            asker,
            replies,
        )

    def _sequence(self, task: Task, asker: ReplyAsker, replies: Replies) -> Measurement:
        return tested_figure(
            Measurement(
                name=task.name("sequence"),
                group="consistency",
                unit=task.unit("sequence"),
                method="Each reply against earlier ones to the same question: the last, the recent ones, and all.",
                null="a reply does not depend on earlier ones",
            ),
            follow(replies, task.key),
            asker,
            replies,
        )


def _limits(task: Task, gain: ResponseGain, asker: ReplyAsker) -> tuple[ExploitabilityLimits | None, str]:
    """Return the limits, or the reason why there are none."""
    try:
        if is_certain(task.agent):
            return certain_limits(gain, asker), ""
        return measured_limits(gain, asker, task.decisions, task.key.at("limits")), ""
    except CannotCompute as error:
        return None, str(error)


def tested_figure(figure: Measurement, tested: PermutationTest, asker: ReplyAsker, replies: Replies) -> Measurement:
    """Put a permutation test into a figure, with the first reply to the question that contributes most."""
    if not any(replies):
        return replace(figure, why_not=_SILENT)
    known = asker.questions.sets[tested.question]
    return replace(
        figure,
        value=tested.value,
        p=tested.p,
        n=sum(map(len, replies)),
        example=f"Most of it at: {known.view.situation}",
        episode=asker.episode_id(tested.question),
    )


def exploitability(
    task: Task, gain: ResponseGain, asker: ReplyAsker, limits: ExploitabilityLimits | None, why_not: str
) -> Measurement:
    """Return the exploitability with its one-sided limits."""
    figure = Measurement(name=task.name("exploitability"), group="exploitability", unit=task.unit("exploitability"))
    if limits is None:
        return of_exploitability(figure, Exploitability(method="replies", why_not=why_not))
    found = of_exploitability(figure, of_limits(gain, limits))
    return replace(
        found,
        interval="" if is_certain(task.agent) else "each one-sided 95 %, both together 90 %",
        method=f"Best response to {found.n} replies in {len(gain.questions)} situations; illegal ones "
        f"{'and missing ones ' if _num_missing(asker) else ''}count as played.",
        chance=exploitability_of_random(gain),
        p=limits.p_value,
    )


def _num_missing(asker: ReplyAsker) -> int:
    """Return the number of questions without a reply."""
    return sum(map(len, asker.decisions)) - sum(map(len, asker.answered))


def exploitability_of_random(gain: ResponseGain) -> float:
    """Return the exploitability of uniformly random play."""
    legal = [[float(action != FORFEIT) for action in known.actions] for known in gain.questions.sets]
    rows = np.concatenate([np.array(row) / sum(row) for row in legal])
    return gain(rows, gain.best_responses(rows))[0]


class Hit(NamedTuple):
    """Dominated action that was played, by the number of its question and its place among the replies to it."""

    question: int
    place: int
    dominated: DominatedPlay


def dominated_share(task: Task, asker: ReplyAsker) -> Measurement:
    """Return the share of dominated actions among the replies where there are any."""
    questions = asker.questions
    fixed = questions.tree.game.spec.utility in ("zero-sum", "constant-sum")  # elsewhere it may help another
    figure = Measurement(
        name=task.name("dominated"),
        group="competence",
        unit=task.unit("dominated"),
        method="Actions that another one never falls behind and sometimes beats, where there are any.",
        best=0.0,
        null="it never plays a strictly dominated action" if fixed else "",
    )
    try:
        known = dominated_actions(questions.tree.game)
    except CannotCompute as error:
        return replace(figure, why_not=str(error))
    met = [
        (number, {one.action: one for one in known[asked.view.info_key]}, rows)
        for number, (asked, rows) in enumerate(zip(questions.sets, asker.answered, strict=True))
        if asked.view.info_key in known
    ]
    if not met:
        return replace(figure, why_not=f"{task.text} has no dominated actions that the criterion finds.")
    if not any(rows for *_, rows in met):
        return replace(figure, why_not=_SILENT)
    hits = [
        Hit(number, place, worse[row.action])
        for number, worse, rows in met
        for place, row in rows.items()
        if row.action in worse
    ]
    tries = sum(len(rows) for *_, rows in met)
    share = replace(
        fill_figure(figure, wilson(len(hits), tries)),
        chance=sum(len(rows) * len(worse) / _num_legal(questions.sets[number]) for number, worse, rows in met) / tries,
        certain=fixed and any(hit.dominated.strict for hit in hits),  # an equilibrium may play the others
    )
    return _add_example(share, asker, hits)


def _num_legal(known: InformationSet) -> int:
    """Return the number of actions that random play has."""
    return sum(action != FORFEIT for action in known.actions)


def _add_example(figure: Measurement, asker: ReplyAsker, hits: Sequence[Hit]) -> Measurement:
    """Add a dominated action that was played, a strictly dominated one if there is any."""
    if not hits:
        return figure
    question, place, one = max(hits, key=lambda hit: hit.dominated.strict)
    situation = asker.questions.sets[question].view.situation
    example = f"{situation} It replied {one.action}; {one.by} is better."
    return replace(figure, example=example, episode=asker.episode_id(question, place))


def illegal(task: Task, asker: ReplyAsker) -> Measurement:
    """Return the share of replies without a legal action; a question without a reply is in neither number."""
    rows = [(row, number, place) for number, some in enumerate(asker.answered) for place, row in some.items()]
    bad = [one for one in rows if one[0].action is None]
    figure = Measurement(
        name=task.name("illegal"),
        group="competence",
        unit=task.unit("illegal"),
        method="Replies without a legal action, after the tries that the game allows.",
        best=0.0,
        null=f"at most {_TOLERATED:.0%} of replies are illegal",
        example=(bad[0][0].said or "") if bad else "",
        episode=asker.episode_id(*bad[0][1:]) if bad else "",
    )
    if not rows:
        return replace(figure, why_not=_SILENT)
    return replace(fill_figure(figure, wilson(len(bad), len(rows))), p=binomial_p(len(bad), len(rows), _TOLERATED))


def binomial_p(hits: int, tries: int, rate: float) -> float:
    """Return the chance of at least so many hits at a rate."""
    from scipy.special import bdtrc  # `scipy.stats` takes ten times as long to import

    return 1.0 if hits == 0 else float(bdtrc(hits - 1, tries, rate))
