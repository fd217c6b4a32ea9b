"""Exact figures of an exchange of messages: a source of talk on the tree of a game.

Both players state their probabilities. Every figure is of one speaker and one reader in a game of two seats, given the
public history before the message. Replaced messages stand in the place of the real one in the views, so the turn stays
and no later draw moves.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from stratagem.base.errors import CannotCompute
from stratagem.games.abilities import silence_at
from stratagem.games.base import Game, Seat
from stratagem.games.sender_receiver import SenderReceiver
from stratagem.games.talk.language import Kind
from stratagem.games.tree_walk import BUDGET
from stratagem.measure.talk.definitions import deceives, variation
from stratagem.measure.talk.exact_source import ExactSource, difference
from stratagem.measure.talk.exchange import Exchange
from stratagem.measure.talk.figures import TalkFigures, talk_figures
from stratagem.measure.talk.signalling import Returns, Signalling
from stratagem.measure.talk.source import (
    Arm,
    Commitment,
    GainArm,
    Joint,
    ReaderMove,
    Shuffle,
    Utterance,
    WeighedItem,
)
from stratagem.measure.talk.talk_tree import Floats, SpeakerMessage, TalkTree
from stratagem.players.base import Mix, Player

K = TypeVar("K", bound=Hashable)
Deceptive = Mapping[tuple[str, str], bool]
"""Verdict on each false statement, by the speaker's information set and the message."""


def exchange_figures(table: TalkTree, speaker: Seat, number: int = 0) -> TalkFigures[float]:
    """Compute all figures of one speaker in one of its exchanges, numbered from 0; its reader is the other seat."""
    return talk_figures(TreeSource(Exchange(table, speaker, number)))


def deceptive_statements(game: Game[Any], players: Sequence[Player], speaker: Seat, budget: int = BUDGET) -> Deceptive:
    """Return which false statements of the first exchange deceive; raise `CannotCompute` where that is not exact.

    `players` are by seat.
    """
    if game.spec.seats != 2:
        raise CannotCompute(f"Deception is exact between two seats, and {game.spec.name} has {game.spec.seats}.")
    if isinstance(game, SenderReceiver) and game.rounds > 1:
        raise CannotCompute(f"{game.spec.name} of several rounds has no exact figures of messages.")
    table = TalkTree(game, players, budget)
    if speaker not in table.channel.speakers:
        return {}
    source = TreeSource(Exchange(table, speaker))
    return {
        (one.known.view.info_key, one.line): bool(deceives(source, one)) for one in source.sent if one.truth is False
    }


class TreeSource(ExactSource):
    """Messages of a speaker in one exchange, and all that can come of them."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange, self.table = exchange, exchange.table
        self.speaker, self.reader = exchange.speaker, exchange.reader
        self._commitments: dict[Kind, list[WeighedItem[Commitment]]] = {}

    @property
    def sent(self) -> list[SpeakerMessage]:
        """Every message that the speaker can send in this exchange."""
        return self.exchange.sent

    @cached_property
    def _spoken(self) -> float:
        """Probability that something is said."""
        return math.fsum(one.probability for one in self.sent if one.text)

    def messages(self) -> list[WeighedItem[Utterance]]:
        return [WeighedItem(one, one.probability) for one in self.sent]

    def shuffled_messages(self) -> Iterator[Shuffle[Utterance]]:
        yield Shuffle([row for group in self._by_history.values() for row in _shuffle_messages(group)])

    @cached_property
    def _by_history(self) -> dict[int, list[SpeakerMessage]]:
        groups: dict[int, list[SpeakerMessage]] = {}
        for one in self.sent:
            groups.setdefault(one.public, []).append(one)
        return groups

    @cached_property
    def _history_weights(self) -> dict[int, float]:
        return {n: math.fsum(one.probability for one in group) for n, group in self._by_history.items()}

    def commitments(self, kind: Kind) -> list[WeighedItem[Commitment]]:
        if kind not in self._commitments:
            bound = self.exchange.bindings(kind)
            self._commitments[kind] = [WeighedItem(one, one.weight) for one in bound if one.weight > 0.0]
        return self._commitments[kind]

    def joint(self) -> list[tuple[float, Joint]]:
        return [
            (
                p,
                _add_probabilities(
                    ((one.known.view.info_key, one.line), one.probability / p) for one in self._by_history[number]
                ),
            )
            for number, p in self._history_weights.items()
            if p > 0.0
        ]

    def signals(self) -> list[tuple[float, Signalling]]:
        """Return the reader's first moves by what it knows beside the message, and by the message."""
        table, exchange = self.table, self.exchange
        prior: dict[int, dict[Hashable, float]] = {}
        answers: dict[int, dict[tuple[Hashable, str], Mix]] = {}
        for number in exchange.answers():
            history, slot = exchange.history_of(number), int(exchange.said[table.nodes[number][0]])
            beside = table.key_without(number, [exchange.place(slot)] if exchange.remembers(number) else [])
            known = prior.setdefault(history, {})
            known[beside] = known.get(beside, 0.0) + float(table.reach[table.nodes[number]].sum())
            answers.setdefault(history, {})[beside, exchange.line(slot)] = table.row(number)
        return [
            (self._history_weights[history], _signalling(prior[history], self._by_history[history], answers[history]))
            for history in prior
            if self._history_weights[history] > 0.0 and sum(prior[history].values()) > 0.0
        ]

    def against_truth(self, said: Utterance) -> Returns | None:
        assert isinstance(said, SpeakerMessage)
        assert said.intent is not None
        alike = [one for one in self.sent if one.known is said.known and one.truth]
        truths = [self._pair(one.values) for one in alike if one.intent and one.intent.form == said.intent.form]
        return difference(self._pair(said.values), truths)

    def _pair(self, by_seat: Sequence[float] | Floats) -> Returns:
        return float(by_seat[self.speaker]), float(by_seat[self.reader])

    def reader_moves(self) -> list[WeighedItem[ReaderMove]]:
        """Return the reader's moves as they come: as in play, a message comes with what the reader sees in its deal."""
        table, exchange, moves = self.table, self.exchange, list[WeighedItem[ReaderMove]]()
        for number in exchange.answers():
            nodes = table.nodes[number]
            if exchange.remembers(number) and not self._is_silence(int(exchange.said[nodes[0]])):
                move = ReaderMove(table.row(number), table.row(exchange.unheard_set(number)))
                moves.append(WeighedItem(move, float(table.reach[nodes].sum())))
        return moves

    def _is_silence(self, slot: int) -> bool:
        known = self.table.sets[int(self.table.tree.set_of_slot[slot])]
        return self.exchange.line(slot) == silence_at(known.view)

    def effect_on_table(self) -> float | None:
        return self._apart() / self._spoken if self._spoken > 0.0 else None

    def _apart(self) -> float:
        """Return the total variation of both seats' first moves, times the probability of a message."""
        table, exchange, total = self.table, self.exchange, []
        for (number, _), before in exchange.occasions().items():
            actions, silence = table.sets[number].actions, silence_at(table.sets[number].view)
            after = {
                line: _mix_distributions((p, exchange.plays[start + n]) for p, start in before)
                for n, line in enumerate(actions)
            }
            reach, mix = math.fsum(p for p, _ in before), table.row(number)
            told = (line for line in actions if line != silence and mix[line] > 0.0)
            total += [reach * mix[line] * variation(after[line], after[str(silence)]) for line in told]
        return math.fsum(total)

    def gain(self, arm: GainArm) -> Returns | None:
        if not self._spoken or arm == "lie":
            return None
        return self._gain_by_reader() if arm == "reader" else self._gain_by_table()

    def _gain_by_reader(self) -> Returns:
        """Return what the messages add to both returns if the reader alone responds, and the speaker remembers them."""
        table, exchange = self.table, self.exchange
        after = [
            number
            for number, known in enumerate(table.sets)
            if known.seat == self.reader and exchange.said[table.nodes[number][0]] >= 0
        ]
        unheard = table.values_of(table.copy_policy({number: exchange.unheard_set(number) for number in after}))
        starts = np.unique(exchange.start[exchange.start >= 0])
        return self._pair(table.reach[starts] @ (table.values[starts] - unheard[starts]) / self._spoken)

    def _gain_by_table(self) -> Returns:
        """Return what the messages add to both returns, over silence to which both respond."""
        own, other = (
            math.fsum(one.probability * (one.values[seat] - one.after_silence[seat]) for one in self.sent)
            / self._spoken
            for seat in (self.speaker, self.reader)
        )
        return own, other

    def returns(self, arm: Arm = "talk") -> Returns:
        if arm == "talk":
            return self._pair(self.table.values[0])
        return self._pair(self.table.jammed if arm == "jammed" else self.table.deaf(self.reader))

    def less(self, one: Arm, other: Arm) -> Returns:
        (own, theirs), (own_there, theirs_there) = self.returns(one), self.returns(other)
        return own - own_there, theirs - theirs_there


def _shuffle_messages(sent: Sequence[SpeakerMessage]) -> Iterator[tuple[float, SpeakerMessage, SpeakerMessage]]:
    """Yield the messages of one history with the probabilities that they have when they are shuffled over deals."""
    lines = _add_probabilities((one.line, one.probability) for one in sent)
    sets = _add_probabilities((id(one.known), one.probability) for one in sent)
    total = math.fsum(lines.values())
    for one in sent:
        yield lines[one.line] * sets[id(one.known)] / total if total else 0.0, one, one


def _signalling(
    prior: dict[Hashable, float], sent: Sequence[SpeakerMessage], answers: dict[tuple[Hashable, str], Mix]
) -> Signalling:
    total, lines = math.fsum(prior.values()), _add_probabilities((one.line, one.probability) for one in sent)
    said = math.fsum(lines.values())
    return Signalling(
        prior={beside: p / total for beside, p in prior.items()},
        says={beside: {line: p / said for line, p in lines.items()} for beside in prior},
        answers=answers,
        returns=_zero_returns,
        receiver_sees=lambda deal: deal,
    )


def _mix_distributions(parts: Iterable[tuple[float, Mapping[K, float]]]) -> dict[K, float]:
    """Return the mean of some distributions by weight."""
    mixed: dict[K, float] = {}
    rows = [(p, part) for p, part in parts if p > 0.0]
    total = math.fsum(p for p, _ in rows)
    for p, part in rows:
        for key, share in part.items():
            mixed[key] = mixed.get(key, 0.0) + p / total * share
    return mixed


def _add_probabilities(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    """Add up probabilities by key."""
    total: dict[K, float] = {}
    for key, p in pairs:
        total[key] = total.get(key, 0.0) + p
    return total


def _zero_returns(deal: object, message: str, action: str) -> Returns:
    return 0.0, 0.0


__all__ = ["Deceptive", "TreeSource", "deceptive_statements", "exchange_figures"]
