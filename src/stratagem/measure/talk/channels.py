"""Channels: how a game holds what was said in its positions, for the exact figures of any game in which seats speak."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game, Seat, State, View
from stratagem.games.sender_receiver import SENDER, SILENT, SenderReceiver, SenderReceiverFacts, SenderReceiverState
from stratagem.games.talk import Intent, Statement, Talk, TalkFacts, talk_in, talk_state_of


class Channel(ABC):
    """Messages of a game, each with its number among those that a position remembers."""

    speakers: tuple[Seat, ...]
    """Seats that may speak."""

    @abstractmethod
    def read(self, line: str) -> Intent | None:
        """Return the sentence that a line says; None where it has no meaning."""

    @abstractmethod
    def inner_view(self, facts: Any) -> View[Any]:
        """Return what a seat would see without the messages, by which sentences are judged."""

    @abstractmethod
    def messages_said(self, state: State[Any]) -> Hashable:
        """Return what has been said before a position, as every seat knows it."""

    @abstractmethod
    def place(self, state: State[Any], speaker: Seat) -> int:
        """Return the number of messages that a position remembers before that of a speaker in it."""

    @abstractmethod
    def places(self, facts: Any, sender: Seat) -> list[int]:
        """Return the numbers of the messages of a sender that a seat remembers."""

    @abstractmethod
    def quiet_messages(self, facts: Any, places: Sequence[int]) -> Any:
        """Return what a seat would know with silence in the places of some messages."""

    def remembers(self, spoken: State[Any], later: State[Any]) -> bool:
        """Return whether a later position still shows what was said in one."""
        return True


class TalkChannel(Channel):
    """Messages of a game with talk of two seats, who read everything."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.speakers = talk, talk.who

    def read(self, line: str) -> Intent | None:
        intent: Intent | None = self.talk.spoken_language.read(line)
        return intent

    def inner_view(self, facts: TalkFacts) -> View[Any]:
        return self.talk.inner_view(facts)

    def messages_said(self, state: State[Any]) -> Hashable:
        spoken = talk_state_of(state)
        assert spoken is not None
        return spoken.messages

    def place(self, state: State[Any], speaker: Seat) -> int:
        spoken = talk_state_of(state)
        assert spoken is not None
        return len(spoken.messages) + state.to_act.index(speaker)

    def places(self, facts: TalkFacts, sender: Seat) -> list[int]:
        return [place for place, message in enumerate(facts.messages) if message.sender == sender]

    def quiet_messages(self, facts: TalkFacts, places: Sequence[int]) -> TalkFacts:
        messages = tuple(m._replace(text="") if place in places else m for place, m in enumerate(facts.messages))
        return facts._replace(messages=messages)

    def remembers(self, spoken: State[Any], later: State[Any]) -> bool:
        return not self.talk.forgets or spoken.round == later.round


@dataclass(frozen=True)
class StatesThat(Statement):
    """Statement of the sender about the state of its round."""

    state: int

    def truth(self, view: View[SenderReceiverFacts]) -> bool | None:
        return None if view.facts.state is None else view.facts.state == self.state


class SenderChannel(Channel):
    """Messages of the sender-receiver game, one a round."""

    speakers = (SENDER,)

    def __init__(self, game: SenderReceiver) -> None:
        self.game = game

    def read(self, line: str) -> Intent | None:
        return StatesThat(line, self.game.meanings[line]) if line in self.game.meanings else None

    def inner_view(self, facts: SenderReceiverFacts) -> View[SenderReceiverFacts]:
        return View(self.game, facts.seat, facts)

    def messages_said(self, state: State[Any]) -> Hashable:
        assert isinstance(state, SenderReceiverState)
        return state.past

    def place(self, state: State[Any], speaker: Seat) -> int:
        return state.round

    def places(self, facts: SenderReceiverFacts, sender: Seat) -> list[int]:
        count = len(facts.past) + (facts.message is not None)
        return list(range(count)) if sender == SENDER else []

    def quiet_messages(self, facts: SenderReceiverFacts, places: Sequence[int]) -> SenderReceiverFacts:
        past = tuple(row._replace(message=SILENT) if n in places else row for n, row in enumerate(facts.past))
        now = SILENT if facts.message is not None and len(facts.past) in places else facts.message
        return facts._replace(past=past, message=now)


def channel_of(game: Game[Any], owner: str) -> Channel:
    """Return the channel of a game in which seats speak; refused where they do not."""
    if isinstance(game, SenderReceiver):
        return SenderChannel(game)
    if (talk := talk_in(game)) is not None:
        return TalkChannel(talk)
    raise BadParameter(
        f"{owner} needs a game in which seats speak, such as talk({game.spec.name}) or sender-receiver, not "
        f"{game.spec.name}."
    )
