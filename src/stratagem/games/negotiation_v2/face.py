"""Face of the negotiation over items."""

from __future__ import annotations

from stratagem.games.base import Json
from stratagem.games.negotiation_v2.rules import ITEMS, Division
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class DivisionFace(StateFace):
    """Demands on items with private values."""

    module = STATIC / "face_items.js"
    rules = Division
    parameters = ("rounds",)

    def board(self) -> Json:
        return {**super().board(), "items": ITEMS}
