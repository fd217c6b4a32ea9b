"""Base of the players of two-by-two games: the first action is the cooperative one, whatever its label."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from stratagem.games.base import View
from stratagem.games.matrix import MatrixFacts
from stratagem.players.base import Scripted

COOPERATE, DEFECT = 0, 1


class IteratedPlayer(Scripted[MatrixFacts]):
    """Player whose whole rule is its probability of cooperation."""

    family = "ipd"

    @abstractmethod
    def cooperates(self, facts: MatrixFacts) -> float | bool:
        """Return the probability of cooperating in this round."""

    def strategy(self, view: View[MatrixFacts]) -> str | Mapping[str, float]:
        return cooperating(view.facts, float(self.cooperates(view.facts)))


def cooperating(facts: MatrixFacts, probability: float) -> str | Mapping[str, float]:
    """Mix the seat's labels with these probabilities; one bare label where there is no doubt."""
    if probability >= 1.0:
        return facts.labels[COOPERATE]
    if probability <= 0.0:
        return facts.labels[DEFECT]
    return {facts.labels[COOPERATE]: probability, facts.labels[DEFECT]: 1.0 - probability}
