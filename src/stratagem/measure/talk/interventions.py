"""Interventions on messages: another line in the place of one, and players that do not hear some of them.

Players with jammed ears hear silence in the place of some messages, and the speaker remembers what it said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.games.base import Seat, View
from stratagem.games.talk import SILENT, Message, TalkFacts, talk_in
from stratagem.games.talk.state import TalkState
from stratagem.players.base import Ask, Mix, Player, Turn
from stratagem.players.members import NamesakePlayer


def instead(state: TalkState, place: int, line: str) -> TalkState:
    """Return a position in which another line was said at a place of the talk.

    The turn stays, so no later draw moves. What the other seats have said and done since stays, too.
    """
    copy = state.fork()
    said = copy.messages[place]
    other = state.game.message(said.round, said.sender, line)
    copy.messages = (*copy.messages[:place], other, *copy.messages[place + 1 :])
    return copy


@dataclass(frozen=True)
class JammedHearer(NamesakePlayer, ABC):
    """Player that another one is, but for what it hears."""

    talks: ClassVar[bool] = True
    player: Player

    @abstractmethod
    def jams(self, message: Message) -> bool:
        """Return whether it does not hear a message."""

    def turn(self, ask: Ask) -> Turn:
        return self.player.turn(ask.seeing(self._heard_view(ask.view)))

    def policy(self, view: View[TalkFacts]) -> Mix:
        return self.player.policy(self._heard_view(view))

    def _heard_view(self, view: View[Any]) -> View[TalkFacts]:
        talk, facts = talk_in(view.game), view.facts
        assert talk is not None
        heard = (talk.message(m.round, m.sender, SILENT) if self.jams(m) else m for m in facts.messages)
        seen = tuple(message for message in heard if message.seen_by(view.seat))
        return View(talk, view.seat, facts._replace(messages=seen))


@dataclass(frozen=True)
class DeafTo(JammedHearer):
    """Hears nothing of what one seat says."""

    sender: Seat

    def jams(self, message: Message) -> bool:
        return message.sender == self.sender


@dataclass(frozen=True)
class Missing(JammedHearer):
    """Hears all but one message, and repetitions of it in the same round."""

    message: Message

    def jams(self, message: Message) -> bool:
        return message == self.message
