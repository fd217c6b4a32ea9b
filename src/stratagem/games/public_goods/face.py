"""Face of the public goods game: contributions and punishments."""

from __future__ import annotations

from stratagem.games.public_goods.rules import PublicGoods
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class PublicGoodsFace(StateFace):
    """Contributions and punishments round by round."""

    module = STATIC / "face_goods.js"
    rules = PublicGoods
    parameters = ("rounds", "multiplier", "fine")
