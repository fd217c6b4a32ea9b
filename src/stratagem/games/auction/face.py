"""Face of sealed-bid auctions in rounds."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.games.auction.rules import BIDS, Auction, AuctionFacts, PastRound
from stratagem.games.base import Json, Seat, View
from stratagem.show.viewer.faces.base import STATIC
from stratagem.show.viewer.faces.states import StateFace


class AuctionFace(StateFace):
    """Sealed-bid auctions in rounds."""

    module = STATIC / "face_auction.js"
    rules = Auction
    parameters = ("rounds",)

    def board(self) -> Json:
        return {**super().board(), "words": BIDS}

    def frame_of(self, view: View[AuctionFacts]) -> Json:
        assert isinstance(self.game, Auction)
        facts, seats = view.facts, range(self.game.seats)
        values = [facts.value if seat == facts.seat else None for seat in seats]
        past = [[_row_of(seat, facts.seat, row) for row in facts.past] for seat in seats]
        return {"state": {"values": values, "past": past, "over": facts.round == self.game.rounds}}


def _row_of(seat: Seat, own: Seat, row: PastRound) -> Sequence[object]:
    """Return a past round of a seat as the one at `own` knows it: only who bid less than another is known to get 0."""
    if seat == own:
        return row
    bids = [*row.others[:own], row.bid, *row.others[own:]]
    bid = bids.pop(seat)
    return [None, bid, bids, 0.0 if bid < max(bids) else None]
