"""Ledger of an episode with talk: each sentence with a meaning, its truth, and what became of each promise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from stratagem.errors import BadParameter
from stratagem.games.base import Seat, State, View
from stratagem.games.catalogue import make_game
from stratagem.games.talk import ALL, MOVE, SILENT, Promise, Statement, Talk, TalkFacts
from stratagem.games.talk.language import Intent
from stratagem.play.forks import steps
from stratagem.play.records import Decision, Episode

Outcome = Literal["kept", "broken", "void"]
Breach = Literal["", "unilateral", "mutual", "retaliation"]
History = tuple[tuple[int, Seat, str | None], ...]
"""Actions and messages that every seat has seen."""


@dataclass(frozen=True)
class Said:
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

    @property
    def truth(self) -> bool | None:
        """Truth of a statement by what its speaker knew; None where it was unknown, and for other sentences."""
        return self.intent.truth(self.view) if isinstance(self.intent, Statement) else None


@dataclass(frozen=True)
class Bound:
    """Promise, and the decision that it bound: the speaker's first one at which its condition held."""

    said: Said
    outcome: Outcome = "void"
    """Void where the condition was never met, the action was illegal, or the game was over."""
    turn: int = -1
    """Turn of that decision; -1 where there was none."""
    view: View[Any] | None = None
    """View of the game without talk at that decision."""
    action: str = ""
    breach: Breach = ""
    """Kind of a breach: unilateral is betrayal; retaliation answers an earlier breach that the seat has seen."""


@dataclass
class Ledger:
    """Messages and promises of an episode, in the order of play."""

    messages: list[Said] = field(default_factory=list)
    promises: list[Bound] = field(default_factory=list)


def ledger(episode: Episode) -> Ledger:
    """Return the ledger of a recorded episode of a game with talk."""
    game = make_game(episode.game)
    if not isinstance(game, Talk):
        raise BadParameter(f"{episode.game} has no talk, so nothing was said in {episode.id}.")
    return _Keeper(game).read(episode)


class _Keeper:
    """Reader of one episode, with the promises that are still open."""

    def __init__(self, game: Talk) -> None:
        self.game = game
        self.book = Ledger()
        self._open: list[Said] = []
        self._history: History = ()
        self._round = 0
        self._remembered = 0

    def read(self, episode: Episode) -> Ledger:
        """Read all turns."""
        for state, decisions in steps(episode):
            if self.game.forgets and state.round != self._round:
                self._close()
            self._round = state.round
            views = {row.seat: state.view(row.seat) for row in decisions}
            talking = bool(views) and next(iter(views.values())).facts.exchange != MOVE
            if talking:
                self._hear(decisions, views)
            else:
                self._watch(decisions, views)
                self._lapse(state)
        self._close()
        return self.book

    def _close(self) -> None:
        """Let the promises that bound no decision be void, and forget the breaches so far."""
        self.book.promises += [Bound(said) for said in self._open]
        self._open = []
        self._remembered = len(self.book.promises)

    def _lapse(self, state: State[Any]) -> None:
        """Let the open promises be void that were for this turn alone, also those of seats that did not move in it."""
        over = [said for said in self._open if _lapses(said, self.game.inner_view(state.view(said.seat).facts))]
        self._open = [said for said in self._open if said not in over]
        self.book.promises += [Bound(said) for said in over]

    def _hear(self, decisions: list[Decision], views: dict[Seat, View[TalkFacts]]) -> None:
        for row in decisions:
            inner = self.game.inner_view(views[row.seat].facts)
            sent = self.game.message(0, row.seat, row.action or SILENT)
            intent = self.game.spoken_language.read(sent.text) if sent.text else None
            said = Said(row.turn, row.seat, sent.text, intent, inner, self._history, sent.to)
            self.book.messages.append(said)
            if isinstance(intent, Promise) and intent.kind == "move":
                self._open.append(said)
        if not self.game.addresses:
            self._history += tuple((row.turn, row.seat, row.action) for row in decisions)

    def _watch(self, decisions: list[Decision], views: dict[Seat, View[TalkFacts]]) -> None:
        """Hold the promises against the moves of a turn."""
        bound = [self._bound(row, views[row.seat]) for row in decisions]
        settled = [promise for promises in bound for promise in promises]
        breaking = {promise.said.seat for promise in settled if promise.outcome == "broken"}
        self.book.promises += [self._classed(promise, breaking) for promise in settled]
        self._history += tuple((row.turn, row.seat, row.action) for row in decisions)

    def _bound(self, row: Decision, view: View[TalkFacts]) -> list[Bound]:
        """Settle the seat's open promises whose condition holds at this decision."""
        inner, settled = self.game.inner_view(view.facts), []
        for said in [said for said in self._open if said.seat == row.seat]:
            assert isinstance(said.intent, Promise)
            kept = None if row.action is None else said.intent.kept(inner, row.action)
            if kept is None and row.action is not None:
                continue
            self._open.remove(said)
            outcome: Outcome = "void" if kept is None else "kept" if kept else "broken"
            settled.append(Bound(said, outcome, row.turn, inner, row.action or ""))
        return settled

    def _classed(self, promise: Bound, breaking: set[Seat]) -> Bound:
        """Class a breach by what the other seats break at the same time, or have broken before in its sight."""
        if promise.outcome != "broken":
            return promise
        if breaking - {promise.said.seat}:
            return replace(promise, breach="mutual")
        breaches = (p.said for p in self.book.promises[self._remembered :] if p.outcome == "broken")
        seat = promise.said.seat
        answers = any(said.seat != seat and said.to in (ALL, seat) for said in breaches)
        return replace(promise, breach="retaliation" if answers else "unilateral")


def _lapses(said: Said, view: View[Any]) -> bool:
    return isinstance(said.intent, Promise) and said.intent.lapses(view)
