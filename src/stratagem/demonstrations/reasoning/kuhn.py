"""Reasons of the demonstrators of Kuhn poker, with the card they hold and the betting of this hand."""

from __future__ import annotations

from stratagem.demonstrations.reasoning.base import Reasoner, Reasoners, Reasons, Ways, by_chance
from stratagem.games.base import View
from stratagem.games.kuhn import KuhnFacts

Seen = View[KuhnFacts]
OUTCOMES = {"PASS": "passing", "BET": "betting", "FOLD": "folding", "CALL": "calling"}

HELD: dict[str, Ways] = {
    "J": ("J loses every showdown", "My J beats nothing", "J is the weakest card"),
    "Q": ("Q beats J and loses to K", "My Q is in between", "Q is ahead of J only"),
    "K": ("K wins every showdown", "Nothing beats my K", "K is the best card"),
}
"""Sentences about the card; the betting follows."""
BETTING: dict[str, Ways] = {
    "": (", and I open.", ", and I am first to act."),
    "P": (", and they passed.", ", and they left it to me."),
    "B": (", and they bet.", ", and I face a bet."),
    "PB": (", and they bet after I passed.", ", and my pass met a bet."),
}

BET_K: Ways = (
    "Betting can only win more, as I am ahead for sure.",
    "I am sure to be ahead, so betting builds the pot for me.",
)
FOLD_J: Ways = (
    "One more chip would only be lost, so I give up the hand.",
    "I cannot win by paying, so I let it go and save the chip.",
)
CALL_K: Ways = (
    "I am sure to win, so I pay and take the larger pot.",
    "There is nothing to fear: paying to see it wins for certain.",
)
CALL_Q: Ways = (
    "They may do that with J, so I pay one chip to see it.",
    "It may be a bluff with J, so I do not let the pot go.",
)

NASH: dict[tuple[str, str], Ways] = {
    ("J", "BET"): (
        "Now and then I bluff with it, and this is such a hand.",
        "A bluff now and then makes Q unsure: I try one now.",
    ),
    ("J", "PASS"): (
        "I bluff with it now and then, but not in this hand.",
        "A bluff is due only now and then; here I risk no chip.",
    ),
    ("J", "FOLD"): FOLD_J,
    ("Q", "PASS"): (
        "Betting gains nothing: J would give up and K would pay.",
        "I risk no chip now, since only K would want to pay for it.",
    ),
    ("Q", "CALL"): (
        "To stop bluffs I pay some of the time, and now I do.",
        "Paying now and then keeps bluffs rare, so I pay here.",
    ),
    ("Q", "FOLD"): (
        "I pay only some of the time here, and now I do not.",
        "I stop bluffs only now and then; this hand I give up.",
    ),
    ("K", "BET"): BET_K,
    ("K", "CALL"): CALL_K,
}
"""Reasons of an equilibrium strategy; mixed actions are named as such."""

TIGHT_VALUE: dict[tuple[str, str], Ways] = {
    ("J", "PASS"): ("I put in chips with better cards only, so I wait.", "I never bluff, so I add no chip with it."),
    ("Q", "PASS"): (
        "I open the betting with K alone, so I wait.",
        "Only with K do I raise the price, so I add no chip.",
    ),
    ("K", "BET"): BET_K,
    ("J", "FOLD"): FOLD_J,
    ("Q", "CALL"): CALL_Q,
    ("K", "CALL"): CALL_K,
}

SMALL: Ways = (
    "I keep the pot small and leave the betting to them.",
    "I never raise the price myself; a small pot suits me.",
)
POT_CONTROL: dict[tuple[str, str], Ways] = {
    **{(card, "PASS"): SMALL for card in "JQK"},
    ("J", "FOLD"): FOLD_J,
    ("Q", "CALL"): CALL_Q,
    ("K", "CALL"): CALL_K,
}

PASS_QUEEN: dict[tuple[str, str], Ways] = {
    **NASH,
    ("Q", "PASS"): ("I never put a chip behind that card, so I wait.", "With that card I always keep my chips."),
    ("Q", "FOLD"): ("I never pay with that card, so the hand is theirs.", "With that card I give up to every bet."),
}


def situation(facts: KuhnFacts) -> Ways:
    """State the card and the betting so far, in one sentence."""
    return tuple(held + betting for held in HELD[facts.card] for betting in BETTING[facts.line])


def by_table(table: dict[tuple[str, str], Ways]) -> Reasoner:
    """Return the reasons of a table for a card and an action."""

    def reasons(view: Seen, action: str) -> Reasons:
        return situation(view.facts), table[view.facts.card, action]

    return reasons


def random(view: Seen, action: str) -> Reasons:
    """Give reasons for a random action."""
    return by_chance(OUTCOMES[action])


REASONERS: Reasoners = {
    "NashApprox": by_table(NASH),
    "TightValue": by_table(TIGHT_VALUE),
    "PotControl": by_table(POT_CONTROL),
    "RandomLegal": random,
    "AlwaysPassQueen": by_table(PASS_QUEEN),
}
