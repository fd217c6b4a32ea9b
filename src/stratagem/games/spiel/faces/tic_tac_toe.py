"""Tic-tac-toe: squares named like a spreadsheet's, column then row."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, grid, turn
from stratagem.games.spiel.facts import SpielFacts

_COLUMNS = "ABC"


@dataclass(frozen=True, kw_only=True)
class TicTacToe(Face):
    """X is seat 0 and begins."""

    name: str = "tic-tac-toe"
    text: str = "tic_tac_toe"
    summary: str = "Three in a row on a board of three by three; a draw under perfect play."
    vocabulary = ("X", "O", "A", "B", "C", "tic-tac-toe")

    def rules(self, seat: Seat) -> str:
        return (
            "Tic-tac-toe on a board of three columns, A to C, and three rows, 1 to 3.\n"
            "X begins; X and O take turns to mark an empty square, named by column and row, such as B2.\n"
            "Three of one's own marks in a row, a column or a diagonal win (1 point, the loser gets -1).\n"
            "A full board without such a line is a draw (0 points each).\n"
            f"You play {'XO'[seat]}."
        )

    def situation(self, facts: SpielFacts) -> str:
        rows = facts.observation.upper().split("\n")
        return f"{grid(rows, '123', _COLUMNS)}\nYou play {'XO'[facts.seat]}. {turn(facts)}"

    def action(self, word: str) -> str:
        """`x(0,2)` is row 0, column 2."""
        row, column = int(word[2]), int(word[4])
        return f"{_COLUMNS[column]}{row + 1}"
