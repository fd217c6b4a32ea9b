"""Faces of talk: the board of a game with talk, and the sender-receiver game on one line."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Game, Json, State
from stratagem.games.sender_receiver import SenderReceiver, SenderReceiverState
from stratagem.games.talk import moving, talk_state_of
from stratagem.viewer.faces.base import STATIC, Actions, GameFace


class TalkFace(GameFace):
    """Board of the game without talk, which stays as it is while the seats send messages."""

    def __init__(self, game: Game[Any], within: GameFace) -> None:
        super().__init__(game)
        self._within = within
        self.module = within.module

    def board(self) -> Json:
        return self._within.board()

    def frame(self, state: State[Any]) -> Json:
        talking = talk_state_of(state)
        assert talking is not None
        return self._within.frame(talking.inner)

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        talked, moved = talk_state_of(after), moving(before)
        assert talked is not None
        if moved is None:
            return {**self.frame(after), "talked": True}
        return self._within.after(moved, talked.inner, actions)


class SenderReceiverFace(GameFace):
    """The round that a turn was played in, since the state after its end has the next one."""

    module = STATIC / "face_sender_receiver.js"
    rules = SenderReceiver

    def board(self) -> Json:
        assert isinstance(self.game, SenderReceiver)
        return {"states": self.game.states, "bias": self.game.bias, "rounds": self.game.rounds}

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, SenderReceiverState)
        return {"drawn": state.drawn, "message": state.message, "action": None, "past": state.past}

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        assert isinstance(after, SenderReceiverState)
        if after.round == before.round:
            return self.frame(after)
        last = after.past[-1]
        return {"drawn": last.state, "message": last.message, "action": last.action, "past": after.past}
