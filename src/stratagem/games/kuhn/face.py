"""Face of Kuhn poker: its cards and chips, from the dumped state or from the view of a seat."""

from __future__ import annotations

from stratagem.games.base import Json, View
from stratagem.games.kuhn.rules import Kuhn, KuhnFacts
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class KuhnFace(StateFace):
    """Kuhn poker."""

    module = STATIC / "face_cards.js"
    rules = Kuhn

    def frame_of(self, view: View[KuhnFacts]) -> Json:
        facts = view.facts
        opener = facts.seat if facts.opens else 1 - facts.seat  # the view does not tell the number of the hand
        cards = [facts.card if seat == facts.seat else None for seat in (0, 1)]
        return {"state": {"cards": cards, "line": facts.line, "round": opener, "hand": None}}
