"""Languages of the games of any number of seats: public goods, and the auction with its rings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stratagem.games.auction.rules import BIDS, VALUES, Auction, AuctionFacts
from stratagem.games.base import View
from stratagem.games.public_goods.rules import PublicGoods, PublicGoodsFacts
from stratagem.games.talk.language import Asks, Intent, Language, MoveRequest, Plays, Promise, Statement
from stratagem.games.talk.reading_rules import spellings, spellings_of


class PublicGoodsLanguage(Language[PublicGoodsFacts]):
    """`I will CONTRIBUTE` and `Please CONTRIBUTE`, for every action; a reader is asked for its own."""

    key = "public-goods"
    rules = PublicGoods
    game: PublicGoods

    def spellings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        return {"action": spellings(self.game.all_actions(), spellings_of("goods"))}

    def sentences(self) -> Iterator[Intent]:
        for action in self.game.all_actions():
            yield Plays(self.say("plays", action=action), action)
        for action in self.game.all_actions():
            yield Asks(self.say("asks", action=action), action)


@dataclass(frozen=True)
class ValuesAt(Statement):
    """Statement about one's value of the item of this round."""

    value: int

    def truth(self, view: View[AuctionFacts]) -> bool:
        return view.facts.value == self.value


@dataclass(frozen=True)
class _BidBound:
    """Bound on a bid."""

    text: str
    most: int

    def kept(self, view: View[AuctionFacts], action: str) -> bool:
        """Return whether the bid is within the bound."""
        return BIDS.index(action) < self.most


class BidsAtMost(_BidBound, Promise):
    """Promise to bid at most so much."""


class AsksToBid(_BidBound, MoveRequest):
    """Request to bid at most so much."""


class AuctionLanguage(Language[AuctionFacts]):
    """`My value is 3`, `I will bid at most LOW` and `Please bid at most LOW`: how a ring finds who bids for it.

    A ring is a group of bidders that agree on bids (McAfee and McMillan 1992, "Bidding rings").
    """

    key = "auction"
    rules = Auction
    game: Auction

    def sets(self) -> dict[str, tuple[str, ...]]:
        return {"action": BIDS, "bid": BIDS, "value": tuple(map(str, VALUES))}

    def sentences(self) -> Iterator[Intent]:
        for value in VALUES:
            yield ValuesAt(self.say("value", value=value), value)
        for most, bid in enumerate(BIDS, 1):
            yield BidsAtMost(self.say("bids", bid=bid), most)
        for most, bid in enumerate(BIDS, 1):
            yield AsksToBid(self.say("asks_bid", bid=bid), most)
