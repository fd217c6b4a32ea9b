"""Face of the negotiation over items."""

from __future__ import annotations

from stratagem.games.base import Json, View
from stratagem.games.negotiation_v2.rules import ITEMS, Division, DivisionFacts
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class DivisionFace(StateFace):
    """Demands on items with private values."""

    module = STATIC / "face_items.js"
    rules = Division
    parameters = ("rounds",)

    def board(self) -> Json:
        return {**super().board(), "items": ITEMS}

    def frame_of(self, view: View[DivisionFacts]) -> Json:
        facts = view.facts
        values, demands = (facts.values, None), (facts.mine, facts.theirs)
        order = 1 if facts.seat == 0 else -1
        return {"state": {"pool": facts.pool, "values": values[::order], "demands": demands[::order]}}
