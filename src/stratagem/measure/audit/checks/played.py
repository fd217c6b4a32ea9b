"""Check of questions against play: does the agent play in games as it answers the questions of the audit?

An agent that recognises a question can answer it by one policy and play by another. Both are in the record: the
questions of the probe `replies`, and the decisions of every game that was played. In each information set that both
have, the actions are compared by a permutation test, in which an illegal reply is one more action.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Seat
from stratagem.games.key import Key
from stratagem.measure.audit.checks.base import ProbeResult, last_attempts, questions_among
from stratagem.measure.audit.measurement import Group, Measurement
from stratagem.measure.audit.probes.base import Task
from stratagem.measure.audit.probes.replies import gain_of
from stratagem.measure.policies import merges
from stratagem.measure.resumable import is_unanswered
from stratagem.measure.sampled.permutation import differ
from stratagem.playing.records import Episode

_ILLEGAL = "an illegal reply"


class RecordedAction(NamedTuple):
    """Action in an information set, and its episode."""

    action: str
    episode: str


Replies = Mapping[Hashable, Sequence[RecordedAction]]
"""Actions by information set."""


class Knowledge(NamedTuple):
    """Limits of what an agent can tell apart in a game."""

    by_state: bool
    """True if its memory is so short that equal state keys of a round are one situation."""
    by_round: bool
    """True if rounds know of each other; else the seats change roles, and neither round nor seat is told apart."""

    def of(self, seat: Seat, number: int, state_key: str, info_key: str) -> Hashable:
        """Return the information set of a situation in a round of this number."""
        key = state_key if self.by_state else info_key
        if not self.by_round:
            return key
        return (seat, number, key) if self.by_state else (seat, key)


def knowledge_of(task: Task) -> Knowledge:
    """Return what the agent of a task can tell apart."""
    return Knowledge(by_state=merges(task.game, task.agent), by_round=task.game.spec.independent_rounds == 0)


class PlayedCheck:
    """Total variation between the replies to questions and the decisions in play, with a test that there is none."""

    quantities: ClassVar[Mapping[str, Group]] = {"played": "consistency"}

    def measure(self, results: Sequence[ProbeResult]) -> Measurement:
        source = questions_among(results)
        task, asked = source.task, replies_in(source.task, source.question_episodes())
        records = {result.record: replies_in(result.task, result.played_episodes()) for result in results}
        played = {known: [one for some in records.values() for one in some.get(known, ())] for known in asked}
        shared = [known for known in asked if played[known]]
        if not shared:
            raise CannotCompute("No situation that was asked about was met in play.")
        first, second = ([some[known] for known in shared] for some in (asked, played))
        numbers: dict[str, int] = {}
        tested = differ(_number_actions(first, numbers), _number_actions(second, numbers), task.key.at("played"))
        most = shared[tested.question]
        example = _most_played(asked[most], played[most])
        return Measurement(
            name=task.name("played"),
            group="consistency",
            value=tested.value,
            p=tested.p,
            null="it plays as it answers the same situations when it is asked",
            n=sum(map(len, first)) + sum(map(len, second)),
            unit=task.unit("played"),
            method=f"{sum(map(len, first))} questions against {sum(map(len, second))} decisions in play, in "
            f"{len(shared)} situations that both have.",
            example=f"Most of it at: {_situation(task, most)} {_shares(asked[most], played[most], example.action)}",
            episode=example.episode,
            record=next(name for name, some in records.items() if example in some.get(most, ())),
        )


def replies_in(task: Task, episodes: Iterator[Episode]) -> Replies:
    """Return the agent's replies by information set; of those by one draw one alone.

    The rotations of a deal have the same dice: their replies at one turn depend on each other, in other sets, too. The
    one that counts is drawn, so that each seat has its share.
    """
    knowledge, agent = knowledge_of(task), task.agent.name
    found: dict[tuple[int, int, int], list[tuple[Hashable, RecordedAction]]] = defaultdict(list)
    for episode in episodes:
        for row in last_attempts(episode):
            if episode.players[row.seat].rpartition("@")[0] == agent and not is_unanswered(row):
                known = knowledge.of(row.seat, row.round, row.state_key, row.info_key)
                reply = RecordedAction(row.action or _ILLEGAL, episode.id)
                found[episode.key, row.slot, row.turn].append((known, reply))
    replies: dict[Hashable, list[RecordedAction]] = defaultdict(list)
    for (key, slot, turn), some in found.items():
        known, reply = some[Key(key).at("counted", slot, turn).integer(len(some))]
        replies[known].append(reply)
    return replies


def _number_actions(replies: Sequence[Sequence[RecordedAction]], numbers: dict[str, int]) -> Sequence[Sequence[int]]:
    """Return the actions by set as numbers, and number those that are new."""
    return [[numbers.setdefault(one.action, len(numbers)) for one in some] for some in replies]


def _most_played(asked: Sequence[RecordedAction], played: Sequence[RecordedAction]) -> RecordedAction:
    """Return the reply in play whose action is there the most frequent, by comparison with the questions."""
    rates = [Counter(one.action for one in some) for some in (asked, played)]
    return max(played, key=lambda one: rates[1][one.action] / len(played) - rates[0][one.action] / len(asked))


def _shares(asked: Sequence[RecordedAction], played: Sequence[RecordedAction], action: str) -> str:
    counts = [(sum(one.action == action for one in some), len(some)) for some in (asked, played)]
    (hits, questions), (found, decisions) = counts
    return f"It chose {action} {hits} of {questions} times when it was asked, and {found} of {decisions} in play."


def _situation(task: Task, known: Hashable) -> str:
    """Return an information set in words."""
    knowledge = knowledge_of(task)
    for one in gain_of(task).questions.sets:
        if knowledge.of(one.seat, one.state.round, one.view.state_key, one.view.info_key) == known:
            return one.view.situation
    return str(known)
