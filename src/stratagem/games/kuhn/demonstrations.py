"""Reasons of the demonstrators of Kuhn poker, with the card they hold and the betting of this hand."""

from __future__ import annotations

from stratagem.base.sentences.reading import Wordings
from stratagem.games.base import View
from stratagem.games.kuhn.rules import KuhnFacts
from stratagem.learn.demonstrations.reasoning.base import (
    Reasoner,
    Reasoners,
    Reasons,
    by_chance,
    reason_file,
    state,
    word,
)

Seen = View[KuhnFacts]


def situation(facts: KuhnFacts) -> Wordings:
    """State the card and the betting so far, in one sentence."""
    betting = state(f"kuhn.betting.{facts.line or 'none'}")
    return tuple(held + bet for held in state(f"kuhn.held.{facts.card}") for bet in betting)


def by_table(*tables: str) -> Reasoner:
    """Return the reasons of the first of some tables that has one for a card and an action, or for an action."""

    def reasons(view: Seen, action: str) -> Reasons:
        names = f"{view.facts.card}_{action}", action
        known = (f"kuhn.{t}.{n}" for t in tables for n in names if n in reason_file().table(f"kuhn.{t}"))
        return situation(view.facts), state(next(known, f"kuhn.{tables[0]}.{names[0]}"))

    return reasons


def random(view: Seen, action: str) -> Reasons:
    """Give reasons for a random action."""
    return by_chance(word(f"kuhn.outcome.{action}"))


REASONERS: Reasoners = {
    "NashApprox": by_table("nash", "bets_king", "shared"),
    "TightValue": by_table("tight_value", "bets_king", "calls_bluffs", "shared"),
    "PotControl": by_table("pot_control", "calls_bluffs", "shared"),
    "RandomLegal": random,
    "AlwaysPassQueen": by_table("pass_queen", "nash", "bets_king", "shared"),
}
