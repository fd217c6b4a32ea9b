"""Reasons of the demonstrators of the sealed-bid auction; bids are written as the numbers that they cost."""

from __future__ import annotations

from stratagem.base.sentences.reading import Wordings
from stratagem.games.auction.rules import BIDS, AuctionFacts
from stratagem.games.base import View
from stratagem.learn.demonstrations.reasoning.base import Reasoners, Reasons, by_chance, state, word

Seen = View[AuctionFacts]


def value_bid(view: Seen, action: str) -> Reasons:
    """Give reasons for bidding the value, which cannot lose points."""
    value = view.facts.value
    return state("auction.value", value=value), state("auction.value_bid.rule", value=value)


def outcome(facts: AuctionFacts) -> Wordings:
    """State the result of the last round."""
    if not facts.past:
        return state("auction.first_round")
    row = facts.past[-1]
    if row.lost:
        return state("auction.lost", theirs=max(row.others), mine=row.bid)
    return state(f"auction.{'won' if row.won else 'tied'}", mine=row.bid)


def aggressive(view: Seen, action: str) -> Reasons:
    """Give reasons for bidding the value, and one more after a loss."""
    facts = view.facts
    value = facts.value
    if not (facts.past and facts.past[-1].lost):
        return outcome(facts), state("auction.aggressive.stays", value=value)
    if value == len(BIDS):
        return outcome(facts), state("auction.aggressive.at_the_top", value=value)
    return outcome(facts), state("auction.aggressive.pushes_back", value=value, bid=value + 1)


def adaptive(view: Seen, action: str) -> Reasons:
    """Give reasons for bidding one below the value, and the value from a loss until the next win."""
    facts, value, bid = view.facts, view.facts.value, 1 + BIDS.index(action)
    if value == 1:
        return outcome(facts), state("auction.adaptive.least")
    if losing(facts):
        return since_loss(facts), state("auction.adaptive.raises", usual=value - 1, bid=bid, value=value)
    return outcome(facts), state("auction.adaptive.shades", bid=bid, value=value)


def losing(facts: AuctionFacts) -> bool:
    """Test whether the last round without a tie was lost."""
    decided = [row.lost for row in facts.past if row.lost or row.won]
    return bool(decided) and decided[-1]


def since_loss(facts: AuctionFacts) -> Wordings:
    """State the last lost round."""
    return state("auction.since_loss", number=max(place for place, row in enumerate(facts.past, 1) if row.lost))


def random(view: Seen, action: str) -> Reasons:
    """Give reasons for a random bid."""
    return by_chance(word("auction.outcome", bid=1 + BIDS.index(action)))


REASONERS: Reasoners = {
    "ValueBid": value_bid,
    "AggressiveValue": aggressive,
    "Adaptive": adaptive,
    "Random": random,
}
