"""Languages of the games of any number of seats: public goods, and the auction with its rings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stratagem.games.auction import BIDS, VALUES, Auction, AuctionFacts
from stratagem.games.base import View
from stratagem.games.public_goods import PublicGoods, PublicGoodsFacts
from stratagem.games.talk.group_rules import AUCTION, GOODS_WORDS
from stratagem.games.talk.language import Asks, Intent, Language, Plays, Promise, Request, Statement
from stratagem.games.talk.reading_rules import Rule, spellings


class PublicGoodsLanguage(Language[PublicGoodsFacts]):
    """`I will CONTRIBUTE` and `Please CONTRIBUTE`, for every action; a reader is asked for its own."""

    rules = PublicGoods
    game: PublicGoods

    def spellings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        return {"action": spellings(self.game.all_actions(), GOODS_WORDS)}

    def sentences(self) -> Iterator[Intent]:
        for action in self.game.all_actions():
            yield Plays(f"I will {action}", action)
        for action in self.game.all_actions():
            yield Asks(f"Please {action}", action)


@dataclass(frozen=True)
class ValuesAt(Statement):
    """Statement about one's value of the item of this round."""

    value: int

    def truth(self, view: View[AuctionFacts]) -> bool:
        return view.facts.value == self.value


@dataclass(frozen=True)
class _AtMost:
    """Bound on a bid."""

    text: str
    most: int

    def kept(self, view: View[AuctionFacts], action: str) -> bool:
        """Return whether the bid is within the bound."""
        return BIDS.index(action) < self.most


class BidsAtMost(_AtMost, Promise):
    """Promise to bid at most so much."""


class AsksToBid(_AtMost, Request):
    """Request to bid at most so much."""


class AuctionLanguage(Language[AuctionFacts]):
    """`My value is 3`, `I will bid at most LOW` and `Please bid at most LOW`: how a ring finds who bids for it.

    A ring is a group of bidders that agree on bids (McAfee and McMillan 1992, "Bidding rings").
    """

    rules = Auction
    game: Auction

    def sets(self) -> dict[str, tuple[str, ...]]:
        return {"action": BIDS, "bid": BIDS, "value": tuple(map(str, VALUES))}

    def rules_of_reading(self) -> tuple[Rule, ...]:
        return AUCTION

    def sentences(self) -> Iterator[Intent]:
        for value in VALUES:
            yield ValuesAt(f"My value is {value}", value)
        for most, bid in enumerate(BIDS, 1):
            yield BidsAtMost(f"I will bid at most {bid}", most)
        for most, bid in enumerate(BIDS, 1):
            yield AsksToBid(f"Please bid at most {bid}", most)
