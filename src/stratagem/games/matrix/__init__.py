"""Matrix games, and the repeated ones of the literature: rules, and beside them the other parts."""

from stratagem.games.matrix.repeated import REPEATED
from stratagem.games.matrix.rules import MatrixFacts, MatrixGame, MatrixState, Payoffs, joint

__all__ = ["REPEATED", "MatrixFacts", "MatrixGame", "MatrixState", "Payoffs", "joint"]
