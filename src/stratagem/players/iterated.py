"""What the players of two-by-two games share: the first action is the cooperative one, whatever it is called."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from stratagem.games.base import View
from stratagem.games.matrix import MatrixFacts
from stratagem.players.base import Scripted

COOPERATE, DEFECT = 0, 1


class IteratedPlayer(Scripted[MatrixFacts]):
    """A player whose whole rule is how probably it cooperates now."""

    family = "ipd"

    @abstractmethod
    def cooperates(self, facts: MatrixFacts) -> float | bool:
        """The probability of cooperating in this round."""

    def strategy(self, view: View[MatrixFacts]) -> str | Mapping[str, float]:
        return cooperating(view.facts, float(self.cooperates(view.facts)))


def cooperating(facts: MatrixFacts, probability: float) -> str | Mapping[str, float]:
    """The seat's own labels with these odds; one bare label where there is no doubt."""
    if probability >= 1.0:
        return facts.labels[COOPERATE]
    if probability <= 0.0:
        return facts.labels[DEFECT]
    return {facts.labels[COOPERATE]: probability, facts.labels[DEFECT]: 1.0 - probability}
