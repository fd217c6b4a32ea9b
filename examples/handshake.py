"""A player of your own: one method, from what the seat sees to an action or to probabilities."""

from dataclasses import dataclass
from typing import ClassVar

from stratagem.games.matrix import MatrixFacts
from stratagem.players.base import Traits
from stratagem.players.iterated import DEFECT, IteratedPlayer


@dataclass(frozen=True)
class Handshake(IteratedPlayer):
    """Defects once, cooperates once, and cooperates on with whoever did the same; defects on everybody else."""

    traits: ClassVar[Traits] = Traits(memory=None)

    def cooperates(self, facts: MatrixFacts) -> bool:
        if len(facts.mine) < 2:
            return bool(facts.mine)
        return facts.theirs[:2] == (DEFECT, 1 - DEFECT)
