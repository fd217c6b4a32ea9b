"""Face of Kuhn poker: its cards and chips, from the dumped state."""

from __future__ import annotations

from stratagem.games.kuhn.rules import Kuhn
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class KuhnFace(StateFace):
    """Kuhn poker."""

    module = STATIC / "face_cards.js"
    rules = Kuhn
