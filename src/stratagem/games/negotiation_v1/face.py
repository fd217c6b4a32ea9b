"""Face of the negotiation over a pie."""

from __future__ import annotations

from stratagem.games.negotiation_v1.rules import Pie
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class PieFace(StateFace):
    """Demands on a pie."""

    module = STATIC / "face_pie.js"
    rules = Pie
    parameters = ("rounds", "pie")
