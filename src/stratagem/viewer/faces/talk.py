"""Face of the sender-receiver game: the state, the message, and the action on one line."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Json, State
from stratagem.games.sender_receiver import SenderReceiver, SenderReceiverState
from stratagem.viewer.faces.base import STATIC, Actions, GameFace


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
