"""A player of your own: one method, from what the seat sees to an action or to a probability."""

from stratagem.games.matrix import MatrixFacts
from stratagem.players.base import Traits
from stratagem.players.iterated import DEFECT, IteratedPlayer


class Handshake(IteratedPlayer):
    """Defects once, cooperates once, and cooperates on with whoever did the same; defects on everybody else."""

    traits = Traits(memory=None)

    def cooperates(self, facts: MatrixFacts) -> bool:
        if len(facts.mine) < 2:
            return len(facts.mine) == 1
        return facts.theirs[:2] == (DEFECT, 1 - DEFECT)
