"""Bargaining over a pool of items (Lewis et al. 2017): offers such as `offer [1, 2, 0]`, or `agree`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, turn
from stratagem.games.spiel.facts import SpielFacts

_ITEMS = ("books", "hats", "balls")


@dataclass(frozen=True, kw_only=True)
class Bargaining(Face):
    """Two players, ten offers, a thousand instances: OpenSpiel's default."""

    name: str = "bargaining"
    text: str = "bargaining"
    summary: str = "Two players divide books, hats and balls that each values differently, by at most ten offers."
    reference: str = "Lewis et al. 2017, arXiv:1706.05125"
    vocabulary = ("offer", "agree", "book", "hat", "ball")

    def rules(self, seat: Seat) -> str:
        return (
            "Two players divide a pool of books, hats and balls. Each knows only what the items are worth to himself; "
            "to each the whole pool is worth 10.\n"
            "In turn a player says what he would take for himself and leaves the rest: "
            "offer [1, 2, 0] takes one book, two hats and no ball. Or he says agree to the other's last offer.\n"
            "After agree each gets the worth of his own share. The tenth offer ends the game: without an agreement "
            "both get 0.\n"
            f"You are the {('first', 'second')[seat]} player; the first player opens."
        )

    def situation(self, facts: SpielFacts) -> str:
        pool, values, _, *offers = facts.information.strip().split("\n")
        lines = [f"The pool: {_count_items(_numbers(pool))}.", f"Worth to you, each: {_worths(_numbers(values))}."]
        for offer in offers:
            who = "You" if offer.startswith(f"P{facts.seat} ") else "The other player"
            lines.append(f"{who}: {self.action(offer.split('offers: ')[1])}")
        return "\n".join([*lines, turn(facts)])

    def action(self, word: str) -> str:
        """`Offer: Book: 1, Hat: 2, Basketball: 0` is what the offering player takes."""
        return f"offer {_numbers(word)}" if word.startswith("Offer") else "agree"


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\w: (\d+)", text)]


def _count_items(counts: list[int]) -> str:
    return ", ".join(f"{count} {item}" for count, item in zip(counts, _ITEMS, strict=True))


def _worths(values: list[int]) -> str:
    return ", ".join(f"{item} {value}" for value, item in zip(values, _ITEMS, strict=True))
