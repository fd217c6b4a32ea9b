"""Reasons of the demonstrators of the sealed-bid auction; bids are written as the numbers that they cost."""

from __future__ import annotations

from stratagem.demonstrations.reasoning.base import Reasoners, Reasons, Ways, by_chance
from stratagem.games.auction import BIDS, AuctionFacts
from stratagem.games.base import View

Seen = View[AuctionFacts]


def own_value(facts: AuctionFacts) -> Ways:
    """State the own value of the item."""
    value = facts.value
    return f"My value is {value} this round.", f"The item is worth {value} to me.", f"This time I value it at {value}."


def value_bid(view: Seen, action: str) -> Reasons:
    """Give reasons for bidding the value, which cannot lose points."""
    value = view.facts.value
    return own_value(view.facts), (
        f"I bid all of it: at {value} a win never costs more than it brings.",
        f"With a bid of {value} I win what can be won without losing points.",
        "I bid just that, the most that can never lose me points.",
    )


def outcome(facts: AuctionFacts) -> Ways:
    """State the result of the last round."""
    if not facts.past:
        return "This is the first round.", "Nobody has outbid me yet."
    row = facts.past[-1]
    if row.lost:
        return "I was outbid last round.", f"Last round {max(row.others)} beat my {row.bid}.", "I lost the last round."
    if row.won:
        return "I won the last round.", f"My {row.bid} won last round."
    return "The last round was a tie.", f"Last round was a tie at {row.bid}."


def aggressive(view: Seen, action: str) -> Reasons:
    """Give reasons for bidding the value, and one more after a loss."""
    facts = view.facts
    value = facts.value
    if not (facts.past and facts.past[-1].lost):
        return outcome(facts), (
            f"I stay at my own value, a bid of {value}, and risk no loss.",
            f"There is no need to go above my value, so I bid just that {value}.",
        )
    if value == len(BIDS):
        return outcome(facts), (
            f"I would go above my value, but at {value} there is no dearer bid.",
            f"I want to beat them now: my value is {value}, and no bid costs more.",
        )
    return outcome(facts), (
        f"I push back: one above my value of {value}, so {value + 1}, is harder to beat.",
        f"To win this one I go over my value of {value}, up to {value + 1}.",
    )


def adaptive(view: Seen, action: str) -> Reasons:
    """Give reasons for bidding one below the value, and the value from a loss until the next win."""
    value, behind = view.facts.value, losing(view.facts)
    bid = 1 + BIDS.index(action)
    if value == 1:
        held: Ways = (
            "My value is 1, so more than that I will not bid.",
            "At a value of 1 every bid above the least one could lose points.",
        )
        return outcome(view.facts), held
    if behind:
        return since_loss(view.facts), (
            f"I go up from {value - 1} to {bid}, but never above my value of {value}.",
            f"My value is {value}, so I raise my usual {value - 1} to the full {bid}.",
        )
    return outcome(view.facts), (
        f"I shade my value of {value} down to {bid}, so that a win leaves 1 over.",
        f"My value is {value}, and a bid of {bid} keeps a profit of 1 if it wins.",
    )


def losing(facts: AuctionFacts) -> bool:
    """Test whether the last round without a tie was lost."""
    decided = [row.lost for row in facts.past if row.lost or row.won]
    return bool(decided) and decided[-1]


def since_loss(facts: AuctionFacts) -> Ways:
    """State the last lost round."""
    number = max(place for place, row in enumerate(facts.past, 1) if row.lost)
    return f"I lost round {number} and have not won since.", f"Since they outbid me in round {number} I am behind."


def random(view: Seen, action: str) -> Reasons:
    """Give reasons for a random bid."""
    return by_chance(f"a bid of {1 + BIDS.index(action)}")


REASONERS: Reasoners = {
    "ValueBid": value_bid,
    "AggressiveValue": aggressive,
    "Adaptive": adaptive,
    "Random": random,
}
