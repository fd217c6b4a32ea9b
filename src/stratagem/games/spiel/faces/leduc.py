"""Leduc poker (Southey et al. 2005): six cards, two betting rounds, one public card."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, turn
from stratagem.games.spiel.facts import SpielFacts

_CARDS = "JQK"
_WORDS = ("fold", "call", "raise")


@dataclass(frozen=True, kw_only=True)
class Leduc(Face):
    """The hand as OpenSpiel deals it: seat 0 speaks first in both rounds."""

    name: str = "leduc"
    text: str = "leduc_poker"
    summary: str = "One hand of Leduc poker: a private card, a public card, two rounds of betting."
    reference: str = "Southey et al. 2005, arXiv:1207.1411"
    vocabulary = ("call", "raise", "fold", "bet", "J", "Q", "K", "leduc", "poker", "chip")

    def rules(self, seat: Seat) -> str:
        return (
            "Leduc poker, one hand. The deck has two each of J, Q and K; K is the highest. "
            "Both players put in one chip and get one card.\n"
            "There are two rounds of betting, and the first player opens both. In turn a player says call "
            "(match what the other put in, or put in nothing where there is nothing to match), raise "
            "(match it and put in more: 2 chips in the first round, 4 in the second, at most two raises a round) "
            "or, facing a raise, fold.\n"
            "After the first round one card is laid open for both. At the end a card of the same rank as the open one "
            "wins; otherwise the higher card does, and equal cards share.\n"
            "Whoever folds loses what he put in. Your payoff is the chips won or lost.\n"
            f"You are the {('first', 'second')[seat]} player."
        )

    def situation(self, facts: SpielFacts) -> str:
        observed = dict(re.findall(r"\[(\w+) ?(?:: ?)?([^\]]*)\]", facts.information))
        open_card = f" The open card: {_rank(observed['Public'])}." if "Public" in observed else ""
        lines = [f"Your card: {_rank(observed['Private'])}.{open_card}"]
        rounds = [(number, observed[f"Round{number}"].split()) for number in (1, 2)]
        lines += [f"Betting in round {number}: {_bets(bets, facts.seat)}." for number, bets in rounds if bets]
        mine, theirs = _stakes(facts)
        return "\n".join([*lines, f"Put in so far: you {mine}, the other player {theirs}.", turn(facts)])

    def action(self, word: str) -> str:
        return word.lower()


def _rank(card: str) -> str:
    return _CARDS[int(card) // 2]


def _bets(bets: list[str], seat: Seat) -> str:
    speakers = ("you", "they") if seat == 0 else ("they", "you")
    return ", ".join(f"{speakers[number % 2]} {_WORDS[int(bet)]}" for number, bet in enumerate(bets))


def _stakes(facts: SpielFacts) -> tuple[str, str]:
    """Return the chips put in, from the observation's `[Ante: 1 3]`."""
    first, second = re.findall(r"\[Ante: (\d+) (\d+)", facts.observation)[0]
    return (first, second) if facts.seat == 0 else (second, first)
