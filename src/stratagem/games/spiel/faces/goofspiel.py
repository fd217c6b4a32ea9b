"""Goofspiel with five cards (Ross 1971): both bid a card for each prize at the same time."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, turn
from stratagem.games.spiel.facts import SpielFacts


@dataclass(frozen=True, kw_only=True)
class Goofspiel(Face):
    """Two players, prizes in random order, the winner takes 1 point."""

    name: str = "goofspiel"
    text: str = "goofspiel(num_cards=5)"
    summary: str = "Five prizes in random order; both bid a card for each at the same time."
    reference: str = "Ross 1971, Goofspiel: the game of pure strategy"
    symmetric: bool = True
    vocabulary = ("bid", "goofspiel", "card", "prize")

    def rules(self, seat: Seat) -> str:
        return (
            "Goofspiel. You and the other player both hold the cards 1 to 5. "
            "Five prizes, worth 1 to 5, are turned up one by one in random order.\n"
            "For each prize both play a card at the same time. The higher card takes the prize; "
            "equal cards leave it to nobody. Cards played are gone, and everybody sees them.\n"
            "The last card is played by itself. Whoever has more prize points at the end wins "
            "(1 point, the loser gets -1); with as many each it is a draw (0)."
        )

    def situation(self, facts: SpielFacts) -> str:
        observed = dict(line.split(":", 1) for line in facts.observation.strip().split("\n"))
        mine, theirs = facts.seat, 1 - facts.seat
        points = observed["Points"].split()
        prizes = " ".join(observed["Remaining Point Cards"].strip())
        lines = [
            f"The prize: {observed['Current point card'].strip()}. Prizes still to come: {prizes or 'none'}.",
            f"Your cards: {observed[f'P{mine} hand'].strip() or 'none'}. "
            f"The other player's cards: {observed[f'P{theirs} hand'].strip() or 'none'}.",
            f"Prize points so far: you {points[mine]}, the other player {points[theirs]}.",
        ]
        return "\n".join([*lines, turn(facts)])

    def action(self, word: str) -> str:
        """`[P0]Bid: 3`."""
        return f"bid {word.rsplit(' ', 1)[1]}"
