"""Decisions of an audit that an agent is asked for again: does it still answer as the record says?

An agent whose replies follow from keys gives each reply again. Of any other the recorded replies to the drawn
questions are compared with the new ones, by a permutation test within questions.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.games.base import Json
from stratagem.games.key import Key
from stratagem.measure.audit.card import read_card
from stratagem.measure.audit.measurement import LEVEL
from stratagem.measure.audit.plan import RECORDS, AuditPlan, plan_audit
from stratagem.measure.audit.probes.replies import gain_of
from stratagem.measure.resumable import is_unanswered, read_plan
from stratagem.measure.sampled.asking import ReplyAsker
from stratagem.measure.sampled.permutation import Replies, differ
from stratagem.playing.records import Decision, Episode
from stratagem.playing.store import read_episodes

_TRIALS, _ORDERS, _STEPS, _POWER = 100, 199, 6, 0.8
"""Simulated records, drawn orders of each test, halvings of the difference, and the share that must be found."""


@dataclass(frozen=True)
class AskedAgain:
    """Decisions that were asked for again, with a test that they agree with the record."""

    asked: int
    """Number of decisions."""
    equal: int
    """Number of those with the recorded action."""
    repeats: bool
    """True if the agent gives each of them again, so that one other action shows a difference."""
    p: float
    """p of the null hypothesis that both come from one agent."""
    detectable: float
    """Smallest share of changed replies that is found: at 95 % if the agent repeats itself, else at 80 % power."""

    @property
    def ok(self) -> bool:
        """True if the agent answers as recorded, as far as the test can see."""
        return self.p > LEVEL

    def sentence(self) -> str:
        """Return the outcome in words."""
        seen = "no share" if math.isnan(self.detectable) else f"a share of {self.detectable:.0%}"
        least = f"{self.asked} decisions would have shown {seen} of changed replies"
        if self.repeats:
            return f"Asked again, the agent gave {self.equal} of {self.asked} decisions as recorded; {least} (95 %)."
        same = "agree with the record" if self.ok else "do not agree with the record"
        return f"Asked again, {self.asked} replies {same} (p = {self.p:.3g}); {least} four times in five."

    def to_json(self) -> Json:
        """Return every field by name."""
        return {
            "asked": self.asked,
            "equal": self.equal,
            "repeats": self.repeats,
            "p": self.p,
            "detectable": None if math.isnan(self.detectable) else self.detectable,
        }


def ask_again(folder: Path, number: int, seed: int) -> AskedAgain:
    """Draw decisions among the recorded questions of an audit, ask the agent again, and test the agreement."""
    plan, agent = _plan_of(folder), read_card(folder).agent
    key = Key(seed).at("asked again")
    old, new = list[list[int]](), list[list[int]]()
    equal, repeats = 0, True
    drawn = _draw(folder, plan, number, key)
    for game, places in drawn.items():
        step = next(one for one in plan.steps if one.game == game and one.probe.name == "replies")
        task = plan.task(step, None)
        if task.agent.name != agent:
            raise BadRecord(f"The plan in {folder} asks {task.agent.name}, which is not the agent of its card.")
        questions = gain_of(task).questions
        asker = ReplyAsker(task.agent, questions, task.key, task.record, task.queue())
        recorded = _read_replies(folder, step.folder)
        again = asker.ask_again(places)
        repeats = repeats and task.agent.traits.repeats
        equal += sum(recorded[place].action == row.action for place, row in zip(places, again, strict=True))
        for question in sorted({question for question, _ in places}):
            actions = questions.sets[question].actions
            before = [row for (own, _), row in sorted(recorded.items(), key=lambda one: one[0]) if own == question]
            now = [row for (own, _), row in zip(places, again, strict=True) if own == question]
            old.append(_numbers(before, actions))
            new.append(_numbers(now, actions))
    asked = sum(map(len, drawn.values()))
    if repeats:
        p = 1.0 if equal == asked else 0.0
        return AskedAgain(asked, equal, repeats, p, 1.0 - 0.05 ** (1.0 / asked))
    return AskedAgain(asked, equal, repeats, differ(old, new, key).p, detectable_share(old, list(map(len, new)), key))


def _plan_of(folder: Path) -> AuditPlan:
    data = read_plan(folder)
    if data is None or data.get("command") != "audit":
        raise BadRecord(f"There is no audit in {folder}, so no agent can be asked again.")
    try:
        return plan_audit(str(data["player"]), list(data["games"]), int(data["decisions"]), int(data["seed"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadRecord(f"The plan of the audit in {folder} is damaged.") from error


def _read_replies(folder: Path, name: str) -> dict[tuple[int, int], Decision]:
    """Return the recorded replies by question and place."""
    found: dict[tuple[int, int], Decision] = {}
    for episode in read_episodes(folder / RECORDS / name):
        if episode.purpose == "probe":
            found[_place(episode)] = [row for row in episode.decisions if row.slot == 0][-1]
    return {place: row for place, row in found.items() if not is_unanswered(row)}


def _place(episode: Episode) -> tuple[int, int]:
    try:
        question, place = map(int, episode.id.rsplit("/", 2)[1:])
    except ValueError as error:
        raise BadRecord(f"{episode.id[:100]} is no question of an audit.") from error
    return question, place


def _draw(folder: Path, plan: AuditPlan, number: int, key: Key) -> dict[str, list[tuple[int, int]]]:
    """Draw decisions, each at most once; games take part by their number of replies."""
    steps = [step for step in plan.steps if step.probe.name == "replies" and not step.why_not]
    every = [(step.game, place) for step in steps for place in sorted(_read_replies(folder, step.folder))]
    if not every:
        raise BadParameter("The audit asked no questions about situations, so none can be asked again.")
    chosen = np.random.default_rng(key.value).permutation(len(every))[:number]
    found = defaultdict[str, list[tuple[int, int]]](list)
    for index in sorted(map(int, chosen)):
        found[every[index][0]].append(every[index][1])
    return found


def _numbers(rows: Sequence[Decision], actions: Sequence[str]) -> list[int]:
    """Return actions as numbers; an illegal reply is one more, and a missing one counts for nothing."""
    return [len(actions) if row.action is None else actions.index(row.action) for row in rows if not is_unanswered(row)]


def detectable_share(old: Replies, sizes: Sequence[int], key: Key) -> float:
    """Return the smallest share of changed replies that the test finds four times in five; NaN if it finds none.

    New replies are drawn from the recorded ones, and so many of them become the action that was the rarest.
    """
    low, high = 0.0, 1.0
    if not _has_power(old, sizes, 1.0, key):
        return math.nan
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _has_power(old, sizes, middle, key) else (middle, high)
    return high


def rarest_action(row: Sequence[int]) -> int:
    """Return the rarest action of a question, or another one where only one was given."""
    counts = Counter(row)
    return min(counts, key=lambda action: (counts[action], action)) if len(counts) > 1 else max(row, default=0) + 1


def _has_power(old: Replies, sizes: Sequence[int], share: float, key: Key) -> bool:
    """Return whether the test finds a share of changed replies four times in five; trials end once that is certain."""
    generator, found = np.random.default_rng(key.at("power").value), 0
    for trial in range(_TRIALS):
        new = []
        for row, size in zip(old, sizes, strict=True):
            own = generator.choice(row, size) if row else np.zeros(0, dtype=np.int64)
            other = rarest_action(row)
            new.append([other if generator.random() < share else int(one) for one in own])
        found += differ(old, new, key.at("power", trial), rounds=_ORDERS).p <= LEVEL
        if found >= _POWER * _TRIALS or found + _TRIALS - trial - 1 < _POWER * _TRIALS:
            break
    return found >= _POWER * _TRIALS
