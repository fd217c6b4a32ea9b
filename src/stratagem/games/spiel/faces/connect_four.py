"""Connect four: a move is the column in which the disc falls, counted from 1."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, grid, turn
from stratagem.games.spiel.facts import SpielFacts


@dataclass(frozen=True, kw_only=True)
class ConnectFour(Face):
    """X is seat 0 and begins."""

    name: str = "connect-four"
    text: str = "connect_four"
    summary: str = "Four in a row on six rows and seven columns, where discs fall; the first player can force a win."
    vocabulary = ("drop", "X", "O", "disc", "connect four")

    def rules(self, seat: Seat) -> str:
        return (
            "Connect four on an upright board of seven columns, 1 to 7, and six rows.\n"
            "X begins; X and O take turns to drop a disc into a column that is not full.\n"
            "Four of one's own discs in a row, a column or a diagonal win (1 point, the loser gets -1).\n"
            "A full board without such a line is a draw (0 points each).\n"
            f"You play {'XO'[seat]}."
        )

    def situation(self, facts: SpielFacts) -> str:
        rows = facts.observation.upper().rstrip("\n").split("\n")
        return f"{grid(rows, ' ' * len(rows), '1234567')}\nYou play {'XO'[facts.seat]}. {turn(facts)}"

    def action(self, word: str) -> str:
        """`x3` is the fourth column."""
        return f"drop {int(word[1:]) + 1}"
