"""Recorded games as a source of talk: what was said, which decisions it bound, and the stated policies there."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from stratagem.games.base import Seat
from stratagem.games.talk import Promise, Statement
from stratagem.games.talk.language import Kind
from stratagem.measure.policies import Stated
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate, clustered_mean, ratio, students
from stratagem.measure.talk.ledger import Bound, Ledger, SaidMessage
from stratagem.measure.talk.source import C, Commitment, Shuffle, T, TalkSource, Utterance, WeighedItem
from stratagem.playing.records import Episode

_KEPT = {"kept": True, "broken": False, "void": None, "open": None}


class SpokenEpisode(NamedTuple):
    """Episode with its ledger and the seat of the speaker."""

    episode: Episode
    ledger: Ledger
    seat: Seat


@dataclass(frozen=True)
class SettledCommitment:
    """Promise or request, judged by the action of the decision that it bound."""

    bound: Bound

    @property
    def public(self) -> Hashable:
        """Public history before it was said, its speaker, and the seat that it bound."""
        return self.bound.said.seat, self.bound.seat, self.bound.said.history

    def kept_at(self, other: Commitment) -> float | None:
        """Return 1 if the action of another decision keeps it, 0 if not; None where its condition fails."""
        assert isinstance(other, SettledCommitment)
        intent, where = self.bound.said.intent, other.bound
        if not isinstance(intent, Promise) or where.view is None:
            return None
        kept = intent.kept(where.view, where.action)
        return None if kept is None else float(kept)

    @property
    def kept_after_silence(self) -> float | None:
        """None: what would have been done after silence is not known."""
        return None


@dataclass(frozen=True)
class CommittedDecision:
    """Promise or request that bound a decision, with the policy there and after silence in its place."""

    episode: Episode
    bound: Bound
    mix: Stated
    after_silence: Stated

    @property
    def public(self) -> Hashable:
        """Public history before it was said, its speaker, and the seat that it bound."""
        return SettledCommitment(self.bound).public

    def kept_at(self, other: Commitment) -> float | None:
        """Return the probability that the policy at another decision keeps it."""
        assert isinstance(other, CommittedDecision)
        return _keeping_probability(self.bound, other.bound, other.mix)

    @property
    def kept_after_silence(self) -> float | None:
        """Probability that the policy keeps it after silence."""
        return _keeping_probability(self.bound, self.bound, self.after_silence)


def _keeping_probability(what: Bound, where: Bound, mix: Stated) -> float | None:
    """Return the probability that a policy keeps a promise at a decision; None where its condition does not hold."""
    intent, view = what.said.intent, where.view
    assert isinstance(intent, Promise)
    assert view is not None
    judged = [(p, intent.kept(view, action)) for action, p in mix.items() if action is not None]
    known = [(p, kept) for p, kept in judged if kept is not None]
    return math.fsum(p for p, kept in known if kept) if known else None


class RecordedGames(TalkSource[Estimate]):
    """Games that are over: every message counts once, and episodes of one deal are one observation."""

    def __init__(
        self, spoken: Sequence[SpokenEpisode], held: Callable[[Kind], Sequence[CommittedDecision]] | None = None
    ) -> None:
        self._spoken, self._asked = spoken, held
        self._held: dict[Kind, list[WeighedItem[Commitment]]] = {}

    @property
    def spoken(self) -> Sequence[SpokenEpisode]:
        """Episodes with what was said in them."""
        return self._spoken

    @cached_property
    def _messages(self) -> list[WeighedItem[Utterance]]:
        return [
            WeighedItem(said, 1.0, episode.id, episode.group)
            for episode, ledger, seat in self.spoken
            for said in ledger.messages
            if said.seat == seat
        ]

    def messages(self) -> list[WeighedItem[Utterance]]:
        return self._messages

    def shuffled_messages(self) -> Iterator[Shuffle[Utterance]]:
        """Yield the statements, shuffled among those that were said: silence and other sentences keep their places."""
        return _shuffle_pairs([one for one in self._messages if _is_statement(one.item)], lambda said: said.public)

    def settled_promises(self) -> list[WeighedItem[SettledCommitment]]:
        """Return the speaker's promises that bound a decision of its own, judged by its actions."""
        return [
            WeighedItem(SettledCommitment(promise), 1.0, episode.id, episode.group)
            for episode, ledger, seat in self.spoken
            for promise in ledger.promises
            if promise.said.seat == seat and _KEPT[promise.outcome] is not None
        ]

    def commitments(self, kind: Kind) -> list[WeighedItem[Commitment]]:
        if kind not in self._held:
            found = self.held_commitments(kind)
            self._held[kind] = [WeighedItem(one, 1.0, one.episode.id, one.episode.group) for one in found]
        return self._held[kind]

    def held_commitments(self, kind: Kind) -> Sequence[CommittedDecision]:
        """Ask for the policies at the decisions that were bound."""
        return self._asked(kind) if self._asked else ()

    def shuffle_promises(self, items: Sequence[WeighedItem[C]]) -> Iterator[Shuffle[C]]:
        return _shuffle_pairs(items, lambda one: one.public)

    def rate(self, judged: Sequence[tuple[WeighedItem[T], bool]]) -> Estimate | None:
        return rate(judged, lambda row: float(row[1]), lambda _: 1.0, lambda row: row[0].deal) if judged else None

    def mean(self, valued: Sequence[tuple[WeighedItem[T], float]]) -> Estimate | None:
        by_episode: dict[str, list[tuple[WeighedItem[T], float]]] = {}
        for row in valued:
            by_episode.setdefault(row[0].episode, []).append(row)
        if not valued:
            return None
        found = ratio(
            list(by_episode.values()),
            lambda rows: math.fsum(value for _, value in rows),
            len,
            lambda rows: rows[0][0].deal,
        )
        return students(found)

    def mean_by_message(self, valued: Sequence[tuple[WeighedItem[T], float]]) -> Estimate | None:
        return students(clustered_mean(valued, lambda row: row[1], lambda row: row[0].deal)) if valued else None


def _is_statement(said: Utterance) -> bool:
    return isinstance(said, SaidMessage) and isinstance(said.intent, Statement)


def _shuffle_pairs(items: Sequence[WeighedItem[T]], public: Callable[[T], Hashable]) -> Iterator[Shuffle[T]]:
    """Yield the pairs within each group that looks alike to every seat; none where no two items do."""
    groups: dict[Hashable, list[T]] = {}
    for one in items:
        groups.setdefault(public(one.item), []).append(one.item)
    if any(len(group) > 1 for group in groups.values()):
        for group in groups.values():
            yield Shuffle([(1.0, what, where) for what in group for where in group], float(len(group)))


__all__ = ["CommittedDecision", "RecordedGames", "SettledCommitment", "SpokenEpisode"]
