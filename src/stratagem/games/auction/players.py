"""Bidders for the repeated sealed-bid auction; a bid is a tier from 1 to 3, and v is one's own value."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping

from stratagem.games.auction.rules import BIDS, AuctionFacts
from stratagem.games.base import View
from stratagem.players.base import Player, Scripted, Traits


class Bidder(Scripted[AuctionFacts]):
    """A player whose whole rule is the tier that it bids."""

    family = "auction"

    @abstractmethod
    def bid(self, facts: AuctionFacts) -> int:
        """Return the tier to bid now."""

    def strategy(self, view: View[AuctionFacts]) -> str | Mapping[str, float]:
        return BIDS[self.bid(view.facts) - 1]


def shade_bid(value: int) -> int:
    """Return one tier below the value, and at least the lowest."""
    return max(1, value - 1)


class ValueBid(Bidder):
    """Bids v (SEPO)."""

    def bid(self, facts: AuctionFacts) -> int:
        return facts.value


class Truthful(ValueBid):
    """Bids v; ValueBid under the name that it has in SEPO's pools."""


class Conservative(Bidder):
    """Bids one tier below v, at least LOW (SEPO); against itself nobody gains by bidding otherwise."""

    def bid(self, facts: AuctionFacts) -> int:
        return shade_bid(facts.value)


class Shaded(Bidder):
    """Bids v or one tier below it at even odds, at least LOW (SEPO)."""

    traits = Traits(stochastic=True)

    def bid(self, facts: AuctionFacts) -> int:
        return shade_bid(facts.value)

    def strategy(self, view: View[AuctionFacts]) -> str | Mapping[str, float]:
        low, high = self.bid(view.facts), view.facts.value
        return BIDS[low - 1] if low == high else {BIDS[low - 1]: 0.5, BIDS[high - 1]: 0.5}


class Adaptive(Bidder):
    """Bids as Conservative, one tier higher (never above v) from a loss until the next win (SEPO)."""

    traits = Traits(memory=None)

    def bid(self, facts: AuctionFacts) -> int:
        decided = [row.lost for row in facts.past if row.lost or row.won]
        raised = bool(decided) and decided[-1]
        return min(facts.value, shade_bid(facts.value) + raised)


class AggressiveValue(Bidder):
    """Bids v, one tier above it (at most HIGH) after a loss (SEPO)."""

    traits = Traits(memory=1)

    def bid(self, facts: AuctionFacts) -> int:
        lost = bool(facts.past) and facts.past[-1].lost
        return min(3, facts.value + lost)


class AggressiveBid(Bidder):
    """Bids HIGH whatever the value (SEPO)."""

    def bid(self, facts: AuctionFacts) -> int:
        return 3


class CollusiveLow(Bidder):
    """Bids LOW whatever the value (SEPO)."""

    def bid(self, facts: AuctionFacts) -> int:
        return 1


class FlatMedium(Bidder):
    """Bids MEDIUM whatever the value."""

    def bid(self, facts: AuctionFacts) -> int:
        return 2


class Sniper(Bidder):
    """Bids HIGH at the highest value and LOW otherwise."""

    def bid(self, facts: AuctionFacts) -> int:
        return 3 if facts.value == 3 else 1


class Matcher(Bidder):
    """Bids the highest last bid of the others, never above v; Conservative first."""

    traits = Traits(memory=None)

    def bid(self, facts: AuctionFacts) -> int:
        return min(facts.value, max(facts.past[-1].others)) if facts.past else shade_bid(facts.value)


class Overbidder(Bidder):
    """Bids one tier above the highest last bid of the others, never above v; Conservative first."""

    traits = Traits(memory=None)

    def bid(self, facts: AuctionFacts) -> int:
        return min(facts.value, 1 + max(facts.past[-1].others)) if facts.past else shade_bid(facts.value)


class FictitiousPlay(Bidder):
    """Fictitious play (Brown 1951): the lowest best response at v to all bids seen; Conservative first."""

    traits = Traits(memory=None)

    def bid(self, facts: AuctionFacts) -> int:
        if not facts.past:
            return shade_bid(facts.value)
        return max((1, 2, 3), key=lambda bid: (facts.value - bid) * sum(_share(bid, row.others) for row in facts.past))


class LowMedium(Bidder):
    """Bids LOW at the lowest value and MEDIUM otherwise: the static bids that take most from who always bids LOW."""

    def bid(self, facts: AuctionFacts) -> int:
        return min(2, facts.value)


class MarginPlay(Bidder):
    """Fictitious play in the difference of payoffs against all bids seen; Conservative first.

    Brown 1951. The other's value is hidden, so it is taken as uniform over the values that its bid does not exceed.
    """

    traits = Traits(memory=None)

    def bid(self, facts: AuctionFacts) -> int:
        if not facts.past:
            return shade_bid(facts.value)
        return max((1, 2, 3), key=lambda bid: sum(_margin(facts.value, bid, max(row.others)) for row in facts.past))


def _margin(value: int, bid: int, other: int) -> float:
    """Return the expected payoff less the other's at these bids."""
    own, theirs = value - bid, (3 - other) / 2
    return own if bid > other else -theirs if bid < other else (own - theirs) / 2


def _share(bid: int, others: tuple[int, ...]) -> float:
    """Return the share of the item that a bid gets."""
    return float(bid > max(others)) if bid not in others or bid < max(others) else 1.0 / (1 + others.count(bid))


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "ValueBid": ValueBid,
    "Truthful": Truthful,
    "Conservative": Conservative,
    "Shaded": Shaded,
    "Adaptive": Adaptive,
    "AggressiveValue": AggressiveValue,
    "AggressiveBid": AggressiveBid,
    "CollusiveLow": CollusiveLow,
    "FlatMedium": FlatMedium,
    "Sniper": Sniper,
    "Matcher": Matcher,
    "Overbidder": Overbidder,
    "FictitiousPlay": FictitiousPlay,
    "LowMedium": LowMedium,
    "MarginPlay": MarginPlay,
}
"""Players by name."""
