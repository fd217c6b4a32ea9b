"""Face of sealed-bid auctions in rounds."""

from __future__ import annotations

from stratagem.games.auction.rules import BIDS, Auction
from stratagem.games.base import Json
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class AuctionFace(StateFace):
    """Sealed-bid auctions in rounds."""

    module = STATIC / "face_auction.js"
    rules = Auction
    parameters = ("rounds",)

    def board(self) -> Json:
        return {**super().board(), "words": BIDS}
