"""A first-price sealed-bid auction (Vickrey 1961) between two bidders with private values."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, turn
from stratagem.games.spiel.facts import SpielFacts


@dataclass(frozen=True, kw_only=True)
class BlindAuction(Face):
    """Values from 1 to 10, bids below one's value: OpenSpiel's default."""

    name: str = "blind-auction"
    text: str = "first_sealed_auction"
    summary: str = "Two bidders with private values bid once, unseen; the higher bid wins and is paid."
    reference: str = "Vickrey 1961, Counterspeculation, auctions, and competitive sealed tenders"
    vocabulary = ("bid", "auction", "item")

    def rules(self, seat: Seat) -> str:
        return (
            "A sealed auction of one item between two bidders.\n"
            "Each bidder alone knows what the item is worth to him, a whole number drawn evenly from 1 to 10, "
            "independently of the other's.\n"
            "Each bids once, a whole number from 0 up to one less than his value, without seeing the other's bid.\n"
            "The higher bid wins, and equal bids are decided by lot. "
            "The winner gets his value less his bid; the loser gets 0.\n"
            f"You are bidder {seat + 1}."
        )

    def situation(self, facts: SpielFacts) -> str:
        observed = dict(re.findall(r"(val|bid) (\d+)", facts.information))
        lines = [f"The item is worth {observed['val']} to you."]
        if "bid" in observed:
            lines.append(f"You bid {observed['bid']}.")
        return "\n".join([*lines, turn(facts)])

    def action(self, word: str) -> str:
        """`Player 0 bid: 3`."""
        return f"bid {word.rsplit(' ', 1)[1]}"
