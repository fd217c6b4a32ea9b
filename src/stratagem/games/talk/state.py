"""State of a game with talk: the state of the game without it, the messages so far, and where the talk stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stratagem.games.abilities import TimedState, clock_of, standing_of
from stratagem.games.base import Json, RoundResult, Seat, State, View, pending
from stratagem.games.key import Chance
from stratagem.games.spec import OnIllegal
from stratagem.games.talk.language import Language
from stratagem.games.talk.message import MOVE, SILENT, Message, TalkFacts
from stratagem.games.talk.rules import TalkRules


class TalkState(TimedState[TalkFacts]):
    """State of the game without talk, the messages so far, and where the talk stands."""

    __slots__ = ("exchange", "inner", "messages", "spoken", "wait")
    state_fields = ("messages", "exchange", "spoken", "wait")
    game: TalkRules
    inner: State[Any]

    def __init__(self, game: TalkRules, chance: Chance) -> None:
        super().__init__(game, chance)
        self.messages: tuple[Message, ...] = ()
        self.exchange, self.spoken, self.wait = MOVE, 0, 0

    def begin(self) -> None:
        """Start the game without talk, and talk where it is due."""
        self.inner = self.game.game.start(self.chance)
        self._go_on(opened=True)

    def _go_on(self, *, opened: bool) -> None:
        """Talk if it is due, and let the seats move if not; `opened` at the first turn of a round."""
        self.exchange, self.spoken = MOVE, 0
        if (opened or self.game.before == "turn") and not self.inner.over and self._language.talkers(self.inner):
            self.exchange = 0 if self.wait == 0 and self.speakers else MOVE
            self.wait = (self.game.interval if self.wait == 0 else self.wait) - 1
        self._settle()

    def _settle(self) -> None:
        """Set the round and the seats to act."""
        self.round, self.over = self.inner.round, self.inner.over
        if self.exchange == MOVE:
            self.to_act = self.inner.to_act
        elif self.game.order == "together":
            self.to_act = self.speakers
        else:
            self.to_act = self.speakers[self.spoken : self.spoken + 1]

    @property
    def _language(self) -> Language[Any]:
        return self.game.spoken_language

    @property
    def speakers(self) -> tuple[Seat, ...]:
        """Seats that may send messages before this turn."""
        able = self._language.talkers(self.inner)
        return tuple(seat for seat in self.game.who if seat in able and self._may_say_something(seat))

    def _may_say_something(self, seat: Seat) -> bool:
        lines = self.game.lines(self.inner.view(seat))
        return lines.is_open or lines.count > 1

    @property
    def on_illegal(self) -> OnIllegal:
        """A message that is none is silence; of moves the game itself decides."""
        return self.inner.on_illegal if self.exchange == MOVE else "default"

    def view(self, seat: Seat) -> View[TalkFacts]:
        seen = tuple(message for message in self.messages if message.seen_by(seat))
        inner = self.inner.view(seat).facts
        facts = TalkFacts(seat, inner, seen, self._number, self.exchange, self.inner.to_act, self.wait)
        return View(self.game, seat, facts)

    @property
    def _number(self) -> int:
        """Number of the occasion in messages."""
        return 0 if self.game.forgets else self._language.occasion(self.inner)

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.exchange != MOVE:
            return self._speak(actions)
        result = self.inner.play(actions)
        if result.closed and self.game.forgets:
            self.messages = ()
        self._go_on(opened=result.closed)
        return result

    def _speak(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        """Take one message of each seat that speaks now."""
        said = {seat: SILENT if actions.get(seat) is None else actions[seat] for seat in self.to_act}
        if set(actions) != set(self.to_act) or any(line not in self.view(seat).choices for seat, line in said.items()):
            raise self.refuse(actions)
        self.messages += tuple(self.game.message(self._number, seat, str(line)) for seat, line in said.items())
        self.spoken += len(said)
        if self.spoken == len(self.speakers):
            self.spoken, self.exchange = 0, self.exchange + 1
        if self.exchange == self.game.rounds:
            self.exchange = MOVE
        self._settle()
        return pending(self.game.spec.seats)

    def fork(self, chance: Chance | None = None) -> TalkState:
        copy = super().fork(chance)
        copy.inner = self.inner.fork(chance)
        return copy

    def dump(self) -> Json:
        return {**super().dump(), "inner": self.inner.dump()}

    def restore(self, data: Json) -> None:
        """Take over what `dump` wrote."""
        super().restore(data)
        self.messages = tuple(Message(*message) for message in self.messages)
        self.inner = self.game.game.load(data["inner"], self.chance)

    def standing(self) -> tuple[float, ...] | None:
        return standing_of(self.inner)

    def clock(self, turn: int) -> int:
        return clock_of(self.inner, turn)

    def files(self) -> Iterator[tuple[str, str]]:
        return self._language.files(self.inner, self.messages)

    def resample(self, seat: Seat, chance: Chance) -> TalkState:
        """Draw anew what the game hides from the seat, and the messages between others, uniformly."""
        copy = self.fork(chance)
        copy.inner = self.inner.resample(seat, chance.at("inner"))
        copy.messages = tuple(
            message
            if message.seen_by(seat)
            else self._redraw_unseen(copy.inner, message, seat, chance.at("message", number))
            for number, message in enumerate(self.messages)
        )
        return copy

    def _redraw_unseen(self, inner: State[Any], message: Message, seat: Seat, chance: Chance) -> Message:
        """Draw a message of the same sender that the seat does not see either."""
        lines = self.game.lines(inner.view(message.sender))
        drawn = (self.game.message(message.round, message.sender, line) for line in lines)
        hidden = [message for message in drawn if not message.seen_by(seat)]
        return hidden[chance.integer(len(hidden))]
