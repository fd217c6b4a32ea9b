"""Reasons of the demonstrators of the negotiation over books, hats and balls; demands are put in words."""

from __future__ import annotations

from stratagem.demonstrations.reasoning.base import Reasoners, Reasons, Ways
from stratagem.games.base import View
from stratagem.games.negotiation_v2 import ITEMS, Bundle, DivisionFacts
from stratagem.players.negotiation_v2 import left_over, ranked

Seen = View[DivisionFacts]


def in_words(bundle: Bundle) -> str:
    """`3 books and 1 hat`; items of which there are none are left out."""
    named = [
        f"{count} {item if count > 1 else item.removesuffix('s')}"
        for count, item in zip(bundle, ITEMS, strict=True)
        if count
    ]
    return " and ".join(", ".join(named).rsplit(", ", 1)) or "nothing"


def demanded(view: Seen, action: str) -> Bundle:
    """Parse the bundle of an action."""
    return tuple(int(count) for count in action.strip("[]").split(","))


def values(facts: DivisionFacts) -> Ways:
    """State the own values of the items."""
    books, hats, balls = facts.values
    return (
        f"My values are books {books}, hats {hats}, balls {balls}.",
        f"Books are worth {books} to me, hats {hats}, balls {balls}.",
    )


def wish(view: Seen, action: str) -> Ways:
    """State a demand in proportion to value."""
    asked = in_words(demanded(view, action))
    return (
        f"Sharing by value, I ask for {asked}.",
        f"In that proportion I ask for {asked}.",
        f"The more worth, the more of it: {asked}.",
    )


def by_value(view: Seen, action: str) -> Reasons:
    """Asks for a share of every item in proportion to its value."""
    return values(view.facts), wish(view, action)


def conservative(view: Seen, action: str) -> Reasons:
    """Asks for all of the most valued item and nothing else."""
    facts = view.facts
    top = ranked(facts)[0]
    asked = in_words(demanded(view, action))
    return (
        f"Nothing is worth more to me than {ITEMS[top]}, at {facts.values[top]} each.",
        f"My best item is {ITEMS[top]}, worth {facts.values[top]} each.",
    ), (
        f"I take {asked}, all there is, and leave the rest.",
        f"I ask for {asked} and leave all else to them.",
        f"All of that and nothing else: {asked}.",
    )


def adaptive(view: Seen, action: str) -> Reasons:
    """Asks by value, after a breakdown only for what would have fitted."""
    facts = view.facts
    if not facts.last_failed:
        return by_value(view, action)
    asked = in_words(demanded(view, action))
    if not any(demanded(view, action)):
        return theirs(facts), (
            "That leaves none of what I want, so I ask for nothing.",
            "Of my share by value nothing would have fitted, so I ask for nothing.",
        )
    return theirs(facts), (
        f"Of my share by value that leaves {asked}, which I ask for.",
        f"I cut my share by value to what would have fitted: {asked}.",
    )


def theirs(facts: DivisionFacts) -> Ways:
    """State the opponent's last demand."""
    taken = in_words(facts.theirs[-1])
    return f"Last time they wanted {taken}.", f"Their last demand was {taken}."


def defensive(view: Seen, action: str) -> Reasons:
    """Give reasons for half first, then for what the opponent's demand leaves."""
    facts = view.facts
    asked = in_words(demanded(view, action))
    if not facts.theirs:
        return values(facts), (
            f"To begin with I ask for half of each kind: {asked}.",
            f"Half of it all, my best item rounded up: {asked}.",
        )
    if not any(left_over(facts)):
        return theirs(facts), (
            "That leaves nothing at all for me, so I ask for nothing.",
            "I ask only for what they leave, and this time that is nothing.",
        )
    return theirs(facts), (
        f"I ask for what that leaves in the pool: {asked}.",
        f"So as not to clash I take the rest: {asked}.",
    )


REASONERS: Reasoners = {
    "Proportional": by_value,
    "Conservative": conservative,
    "Adaptive": adaptive,
    "Defensive": defensive,
}
