"""Breakthrough (Troyka 2000): moves in the squares' names, `a2-b3`, and `a2xb3` where something is captured."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.games.base import Seat
from stratagem.games.spiel.face import Face, grid, turn
from stratagem.games.spiel.facts import SpielFacts

_COLOURS = ("black", "white")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, kw_only=True)
class Breakthrough(Face):
    """Black is seat 0, begins, and goes down the board."""

    columns: int
    rows: int
    vocabulary = (*"abcdefghi", "w", "black", "white", "breakthrough", "piece")

    def rules(self, seat: Seat) -> str:
        last = _LETTERS[self.columns - 1]
        home, goal = ("1", str(self.rows))[:: 1 if seat else -1]
        return (
            f"Breakthrough on {self.columns} columns, a to {last}, and {self.rows} rows, 1 to {self.rows}.\n"
            "White fills rows 1 and 2 and goes up; "
            f"black fills rows {self.rows - 1} and {self.rows} and goes down. Black begins.\n"
            "A piece moves one square, straight or diagonally forward, onto an empty square; "
            "an opposing piece can be captured diagonally forward only, and never has to be.\n"
            "A move is the two squares' names, a2-b3, or a2xb3 for a capture.\n"
            "Whoever gets a piece onto the farthest row, or captures every opposing piece, wins "
            "(1 point, the loser gets -1); there are no draws.\n"
            f"You play {_COLOURS[seat]}: from row {home} towards row {goal}."
        )

    def situation(self, facts: SpielFacts) -> str:
        lines = facts.observation.rstrip("\n").split("\n")[: self.rows]
        labels = [str(row) for row in range(self.rows, 0, -1)]
        board = grid([line[-self.columns :] for line in lines], labels, _LETTERS[: self.columns])
        return f"{board}\nb: black, w: white. You play {_COLOURS[facts.seat]}. {turn(facts)}"

    def action(self, word: str) -> str:
        """`a2b3*` captures."""
        start, target = word[:2], word[2:4]
        return f"{start}{'x' if word.endswith('*') else '-'}{target}"


def breakthrough(name: str, columns: int, rows: int, summary: str) -> Breakthrough:
    """Return the face for one size of board, up to nine rows."""
    text = f"breakthrough(rows={rows},columns={columns})"
    reference = "Dan Troyka, 2000"
    return Breakthrough(
        name=name, text=text, family="breakthrough", summary=summary, reference=reference, columns=columns, rows=rows
    )
