"""Reasons of the demonstrators of the negotiation over books, hats and balls; demands are put in words."""

from __future__ import annotations

from stratagem.base.sentences.reading import Wordings
from stratagem.games.base import View
from stratagem.games.negotiation_v2.players import left_over, rank_items
from stratagem.games.negotiation_v2.rules import ITEMS, Bundle, DivisionFacts
from stratagem.learn.demonstrations.reasoning.base import Reasoners, Reasons, reason_file, state, word

Seen = View[DivisionFacts]
_ITEMS = "negotiation-v2.items"


def in_words(bundle: Bundle) -> str:
    """`3 books and 1 hat`; items of which there are none are left out."""
    named = zip(bundle, reason_file().texts(f"{_ITEMS}.several"), reason_file().texts(f"{_ITEMS}.one"), strict=True)
    counted = [
        word(f"{_ITEMS}.counted", number=count, item=several if count > 1 else one)
        for count, several, one in named
        if count
    ]
    text = counted[0] if counted else word(f"{_ITEMS}.nothing")
    for place, other in enumerate(counted[1:], 2):
        joint = "last_joined" if place == len(counted) else "joined"
        text = word(f"{_ITEMS}.{joint}", first=text, second=other)
    return text


def read_demand(view: Seen, action: str) -> Bundle:
    """Parse the bundle of an action."""
    return tuple(int(count) for count in action.strip("[]").split(","))


def values(facts: DivisionFacts) -> Wordings:
    """State the own values of the items."""
    return state("negotiation-v2.values", **dict(zip(ITEMS, facts.values, strict=True)))


def by_value(view: Seen, action: str) -> Reasons:
    """Give reasons for a share of every item in proportion to its value."""
    return values(view.facts), state("negotiation-v2.by_value.asks", asked=in_words(read_demand(view, action)))


def conservative(view: Seen, action: str) -> Reasons:
    """Give reasons for all of the most valued item and nothing else."""
    facts, key = view.facts, "negotiation-v2.conservative"
    top, several = rank_items(facts)[0], reason_file().texts(f"{_ITEMS}.several")
    asked = in_words(read_demand(view, action))
    return state(f"{key}.best_item", item=several[top], value=facts.values[top]), state(f"{key}.asks", asked=asked)


def adaptive(view: Seen, action: str) -> Reasons:
    """Give reasons for a demand by value, after a breakdown only for what would have fitted."""
    facts, key = view.facts, "negotiation-v2.adaptive"
    if not facts.last_failed:
        return by_value(view, action)
    if not any(read_demand(view, action)):
        return theirs(facts), state(f"{key}.nothing_fits")
    return theirs(facts), state(f"{key}.cuts", asked=in_words(read_demand(view, action)))


def theirs(facts: DivisionFacts) -> Wordings:
    """State the opponent's last demand."""
    return state("negotiation-v2.theirs", taken=in_words(facts.theirs[-1]))


def defensive(view: Seen, action: str) -> Reasons:
    """Give reasons for half first, then for what the opponent's demand leaves."""
    facts, asked, key = view.facts, in_words(read_demand(view, action)), "negotiation-v2.defensive"
    if not facts.theirs:
        return values(facts), state(f"{key}.opens", asked=asked)
    if not any(left_over(facts)):
        return theirs(facts), state(f"{key}.nothing_left")
    return theirs(facts), state(f"{key}.takes_the_rest", asked=asked)


REASONERS: Reasoners = {
    "Proportional": by_value,
    "Conservative": conservative,
    "Adaptive": adaptive,
    "Defensive": defensive,
}
