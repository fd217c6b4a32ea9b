"""Nim (Bouton 1901), misere: whoever takes the last object loses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, turn
from stratagem.games.spiel.facts import SpielFacts


@dataclass(frozen=True, kw_only=True)
class Nim(Face):
    """Piles of 1, 3, 5 and 7, OpenSpiel's default: a loss for the first player under perfect play."""

    name: str = "nim"
    text: str = "nim"
    summary: str = "Misere nim on piles of 1, 3, 5 and 7; the second player can force a win."
    reference: str = "Bouton 1901, Nim, a game with a complete mathematical theory"
    vocabulary = ("pile", "take", "object", "nim")

    def rules(self, seat: Seat) -> str:
        return (
            "Nim. There are four piles, of 1, 3, 5 and 7 objects.\n"
            "In turn each player takes one or more objects from one pile: pile 3 take 2 takes two from the third.\n"
            "Whoever takes the very last object loses (-1 point, the other player gets 1).\n"
            f"You are the {('first', 'second')[seat]} player."
        )

    def situation(self, facts: SpielFacts) -> str:
        piles = facts.observation.split(": ")[1].split()
        lines = [f"Pile {number}: {pile}" for number, pile in enumerate(piles, 1)]
        return "\n".join([*lines, turn(facts)])

    def action(self, word: str) -> str:
        """`pile:3, take:2;` as words."""
        pile, take = re.findall(r"\d+", word)
        return f"pile {pile} take {take}"
