"""Pig (Scarne 1945): roll on or bank the turn's total."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, turn
from stratagem.games.spiel.facts import SpielFacts


@dataclass(frozen=True, kw_only=True)
class Pig(Face):
    """Two players, one die, first to 100."""

    name: str = "pig"
    text: str = "pig"
    summary: str = "A race to 100 with one die: roll on, or bank the turn's total before a 1 takes it away."
    reference: str = "Scarne 1945; Neller and Presser 2004, Optimal play of the dice game Pig"
    vocabulary = ("roll", "stop", "pig", "die")

    def rules(self, seat: Seat) -> str:
        return (
            "Pig. The player whose turn it is says roll or stop, as often as the turn lasts.\n"
            "After roll a die is thrown: 2 to 6 is added to the turn's total; a 1 wipes it out and ends the turn.\n"
            "After stop the turn's total is added to the player's score, and the turn ends.\n"
            "The first to a score of 100 wins (1 point, the loser gets -1); after 1000 decisions the game is a draw.\n"
            f"You are the {('first', 'second')[seat]} player."
        )

    def situation(self, facts: SpielFacts) -> str:
        first, second, total = re.findall(r"\d+", facts.observation)[:3]
        mine, theirs = (first, second) if facts.seat == 0 else (second, first)
        return f"Your score: {mine}. The other player's score: {theirs}. This turn's total: {total}.\n{turn(facts)}"

    def action(self, word: str) -> str:
        return word
