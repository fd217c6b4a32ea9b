"""Liar's dice with one die each: bids such as `bid 2x5`, or `liar`."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, turn
from stratagem.games.spiel.facts import SpielFacts


@dataclass(frozen=True, kw_only=True)
class LiarsDice(Face):
    """Two players, one die of six sides each, sixes wild: OpenSpiel's default."""

    name: str = "liars-dice"
    text: str = "liars_dice"
    summary: str = "Two players with one hidden die each bid on both dice together, until one calls the other a liar."
    vocabulary = ("bid", "liar", "dice")

    def rules(self, seat: Seat) -> str:
        return (
            "Liar's dice. Each of the two players rolls one die and sees only his own.\n"
            "A bid claims how many of the two dice show a face: bid 2x5 says that both are fives. "
            "A six is wild: it counts as every face.\n"
            "In turn a player bids higher (more dice of any face, or as many dice of a higher face) "
            "or says liar about the last bid.\n"
            "After liar the dice are shown: if the bid holds, its bidder wins, else the one who doubted it "
            "(1 point, the loser gets -1).\n"
            f"You are the {('first', 'second')[seat]} player; the first player opens."
        )

    def situation(self, facts: SpielFacts) -> str:
        die, *bids = facts.information.split()
        lines = [f"Your die: {die}."]
        for number, bid in enumerate(bids):
            who = "You" if number % 2 == facts.seat else "The other player"
            lines.append(f"{who}: {self.action(bid)}.")
        return "\n".join([*lines, turn(facts)])

    def action(self, word: str) -> str:
        """`2-5` is two fives."""
        return "liar" if word == "Liar" else f"bid {word.replace('-', 'x')}"
