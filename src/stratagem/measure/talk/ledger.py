"""Ledger of an episode with talk: each sentence with a meaning, its truth, and what became of promises and requests."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from stratagem.base.errors import BadParameter
from stratagem.games.base import Seat, State, View
from stratagem.games.bounded import make_bounded_game
from stratagem.games.talk import (
    ALL,
    MOVE,
    SILENT,
    Promise,
    Statement,
    Talk,
    TalkFacts,
    TalkState,
    talk_in,
    talk_state_of,
)
from stratagem.games.talk.language import Intent
from stratagem.measure.talk.interventions import instead
from stratagem.measure.talk.readers import EXACT, SentenceReader
from stratagem.measure.talk.source import Utterance
from stratagem.playing.forks import steps
from stratagem.playing.records import Decision, Episode

Outcome = Literal["kept", "broken", "void", "open"]
Breach = Literal["", "unilateral", "mutual", "retaliation"]
History = tuple[tuple[int, Seat, str | None], ...]
"""Actions and messages that every seat has seen."""


@dataclass(frozen=True)
class SaidMessage:
    """Message of a seat, and the sentence that it is."""

    turn: int
    seat: Seat
    text: str
    """Empty for silence."""
    intent: Intent | None
    """Sentence of the game's language; None where the text is none."""
    view: View[Any]
    """View of the game without talk when the speaker spoke."""
    history: History = ()
    to: Seat = ALL
    """Seat that could read it, or `ALL`."""
    place: int = 0
    """Number of messages before it that the position remembers."""

    @property
    def truth(self) -> bool | None:
        """Truth of a statement by what its speaker knew; None where it was unknown, and for other sentences."""
        return self.truth_at(self)

    def truth_at(self, other: Utterance) -> bool | None:
        """Return the truth that it would have in the place of another message."""
        assert isinstance(other, SaidMessage)
        return self.intent.truth(other.view) if isinstance(self.intent, Statement) else None

    @property
    def public(self) -> Hashable:
        """Public history before it, and its speaker."""
        return self.seat, self.history

    def read_by(self, seat: Seat) -> bool:
        """Return whether another seat could read it."""
        return seat != self.seat and self.to in (ALL, seat)


@dataclass(frozen=True)
class Bound:
    """Promise or request, and the decision that it bound: the seat's first one at which its condition held."""

    said: SaidMessage
    seat: Seat
    """Seat that it binds: who has promised, or who was asked."""
    outcome: Outcome = "void"
    """Void where the condition was never met, the action was illegal, or the game was over; open where the record
    ends before the game."""
    turn: int = -1
    """Turn of that decision; -1 where there was none."""
    state: TalkState | None = None
    """Position at that decision."""
    action: str = ""
    breach: Breach = ""
    """Kind of a breach of a promise: unilateral is betrayal; retaliation answers an earlier breach that the seat has
    seen."""

    @property
    def seen(self) -> View[TalkFacts]:
        """View of the seat at that decision."""
        assert self.state is not None
        return self.state.view(self.seat)

    @property
    def unheard(self) -> View[TalkFacts]:
        """The same view with silence in the place of the message."""
        assert self.state is not None
        return instead(self.state, self.said.place, SILENT).view(self.seat)

    @property
    def view(self) -> View[Any] | None:
        """View of the game without talk at that decision."""
        return None if self.state is None else self.state.inner.view(self.seat)


@dataclass
class Ledger:
    """Messages, promises and requests of an episode, in the order of play."""

    messages: list[SaidMessage] = field(default_factory=list)
    promises: list[Bound] = field(default_factory=list)
    requests: list[Bound] = field(default_factory=list)
    """Each request once for each seat that could read it."""


def ledger(episode: Episode, parents: Mapping[str, Episode] | None = None, reader: SentenceReader = EXACT) -> Ledger:
    """Return the ledger of a recorded episode of a game with talk, its messages as a reader understands them.

    `parents` are the episodes from which it was forked.
    """
    game = make_bounded_game(episode.game)
    if (talk := talk_in(game)) is None:
        raise BadParameter(f"{episode.game} has no talk, so nothing was said in {episode.id}.")
    return _Keeper(talk, reader).read(steps(episode, parents), finished=episode.finished)


class _Keeper:
    """Reader of one episode, with the promises and requests that are still open."""

    def __init__(self, game: Talk, reader: SentenceReader) -> None:
        self.game = game
        self.reader = reader
        self.book = Ledger()
        self._open: list[tuple[SaidMessage, Seat]] = []
        self._history: History = ()
        self._round = 0
        self._remembered = 0

    def read(self, turns: Iterable[tuple[State[Any], list[Decision]]], *, finished: bool) -> Ledger:
        """Read all turns."""
        for reached, decisions in turns:
            state = talk_state_of(reached)
            assert state is not None
            if self.game.forgets and state.round != self._round:
                self._close()
            self._round = state.round
            if not decisions:
                break
            if state.exchange != MOVE:
                self._hear(state, decisions)
            else:
                self._watch(state, decisions)
                self._lapse(state)
        self._close("void" if finished else "open")
        return self.book

    def _close(self, outcome: Outcome = "void") -> None:
        """Settle what bound no decision, and forget the breaches so far."""
        for said, seat in self._open:
            self._file([Bound(said, seat, outcome)])
        self._open = []
        self._remembered = len(self.book.promises)

    def _file(self, settled: list[Bound]) -> None:
        """Put what was settled among the promises or the requests."""
        for bound in settled:
            (self.book.promises if bound.seat == bound.said.seat else self.book.requests).append(bound)

    def _lapse(self, state: TalkState) -> None:
        """Let be void what was for this turn alone, also of seats that did not move in it."""
        over = [(said, seat) for said, seat in self._open if _lapses(said, state.inner.view(seat))]
        self._open = [item for item in self._open if item not in over]
        self._file([Bound(said, seat) for said, seat in over])

    def _hear(self, state: TalkState, decisions: list[Decision]) -> None:
        for row in decisions:
            sent = self.game.message(0, row.seat, row.action or SILENT)
            place = len(state.messages) + state.to_act.index(row.seat)
            inner = state.inner.view(row.seat)
            intent = self.reader.one(inner, sent.text) if sent.text else None
            said = SaidMessage(row.turn, row.seat, sent.text, intent, inner, self._history, sent.to, place)
            self.book.messages.append(said)
            self._open += [(said, seat) for seat in self._bound_by(said)]
        if not self.game.addresses:
            self._history += tuple((row.turn, row.seat, row.action) for row in decisions)

    def _bound_by(self, said: SaidMessage) -> list[Seat]:
        """Return the seats that a message binds: its speaker by a promise, its readers by a request."""
        if not isinstance(said.intent, Promise):
            return []
        if said.intent.kind == "move":
            return [said.seat]
        return [seat for seat in range(self.game.spec.seats) if said.read_by(seat)]

    def _watch(self, state: TalkState, decisions: list[Decision]) -> None:
        """Hold the promises and requests against the moves of a turn."""
        settled = [bound for row in decisions for bound in self._bound(row, state)]
        breaking = {bound.seat for bound in settled if bound.seat == bound.said.seat and bound.outcome == "broken"}
        self._file([self._classify_breach(bound, breaking) for bound in settled])
        self._history += tuple((row.turn, row.seat, row.action) for row in decisions)

    def _bound(self, row: Decision, state: TalkState) -> list[Bound]:
        """Settle what binds the seat and whose condition holds at this decision."""
        inner, settled = state.inner.view(row.seat), []
        for said, seat in [item for item in self._open if item[1] == row.seat]:
            assert isinstance(said.intent, Promise)
            kept = None if row.action is None else said.intent.kept(inner, row.action)
            if kept is None and row.action is not None:
                continue
            self._open.remove((said, seat))
            outcome: Outcome = "void" if kept is None else "kept" if kept else "broken"
            settled.append(Bound(said, seat, outcome, row.turn, state, row.action or ""))
        return settled

    def _classify_breach(self, promise: Bound, breaking: set[Seat]) -> Bound:
        """Class a breach by what the other seats break at the same time, or have broken before in its sight."""
        seat = promise.seat
        if promise.outcome != "broken" or seat != promise.said.seat:
            return promise
        if breaking - {seat}:
            return replace(promise, breach="mutual")
        breaches = (p.said for p in self.book.promises[self._remembered :] if p.outcome == "broken")
        answers = any(said.read_by(seat) for said in breaches)
        return replace(promise, breach="retaliation" if answers else "unilateral")


def _lapses(said: SaidMessage, view: View[Any]) -> bool:
    return isinstance(said.intent, Promise) and said.intent.lapses(view)


__all__ = ["Bound", "Breach", "Ledger", "Outcome", "SaidMessage", "ledger"]
