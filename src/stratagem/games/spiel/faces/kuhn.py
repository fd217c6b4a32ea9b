"""Kuhn poker (Kuhn 1950), one hand: three cards, one chip each, one bet."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, turn
from stratagem.games.spiel.facts import SpielFacts

_CARDS = "JQK"
_WORDS = {"p": "PASS", "b": "BET"}


@dataclass(frozen=True, kw_only=True)
class SpielKuhnFace(Face):
    """The hand as OpenSpiel deals it: seat 0 speaks first."""

    name: str = "kuhn-spiel"
    text: str = "kuhn_poker"
    summary: str = "One hand of Kuhn poker; worth -1/18 to the first player."
    reference: str = "Kuhn 1950, A simplified two-person poker"
    vocabulary = ("pass", "bet", "J", "Q", "K", "kuhn", "poker", "chip")

    def rules(self, seat: Seat) -> str:
        return (
            "Kuhn poker, one hand. The deck is J, Q and K; K is the highest. "
            "Both players put in one chip and get one card.\n"
            "The first player says PASS or BET, where a bet puts in one chip more. "
            "After a bet the other says BET to match it or PASS to give up the chips put in.\n"
            "After a PASS the second player may PASS, which ends the betting, or BET, which the first must answer.\n"
            "If nobody gave up, the higher card takes the chips. Your payoff is what you win or lose.\n"
            f"You are the {('first', 'second')[seat]} player."
        )

    def situation(self, facts: SpielFacts) -> str:
        card, bets = facts.information[0], facts.information[1:]
        lines = [f"Your card: {_CARDS[int(card)]}."]
        for number, bet in enumerate(bets):
            who = "You said" if number % 2 == facts.seat else "The other player said"
            lines.append(f"{who} {_WORDS[bet]}.")
        return "\n".join([*lines, turn(facts)])

    def action(self, word: str) -> str:
        return word.upper()
