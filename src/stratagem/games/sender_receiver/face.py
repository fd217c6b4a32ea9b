"""Face of the sender-receiver game on one line."""

from __future__ import annotations

from stratagem.games.base import Json, View
from stratagem.games.sender_receiver.rules import SenderReceiver, SenderReceiverFacts
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class SenderReceiverFace(StateFace):
    """The sender-receiver game on one line."""

    module = STATIC / "face_sender_receiver.js"
    rules = SenderReceiver
    parameters = ("states", "bias", "rounds")

    def frame_of(self, view: View[SenderReceiverFacts]) -> Json:
        facts = view.facts
        known = {"drawn": facts.state, "message": facts.message, "past": facts.past, "round": facts.round}
        return {"state": known}
