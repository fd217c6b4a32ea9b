"""The classic strategies of the iterated prisoner's dilemma, under their published names.

Sources are given by author and year; names that Axelrod's library also has follow its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stratagem.base.errors import BadParameter
from stratagem.base.options import within
from stratagem.games.matrix.players_zd import ExtortZD, GenerousZD
from stratagem.games.matrix.rules import MatrixFacts
from stratagem.players.base import Player, Traits
from stratagem.players.iterated import COOPERATE, DEFECT, IteratedPlayer


class AlwaysCooperate(IteratedPlayer):
    """Cooperates whatever happens (Axelrod 1984)."""

    def cooperates(self, facts: MatrixFacts) -> bool:
        return True


class AlwaysDefect(IteratedPlayer):
    """Defects whatever happens (Axelrod 1984)."""

    def cooperates(self, facts: MatrixFacts) -> bool:
        return False


@dataclass(frozen=True)
class AlternateDefect(IteratedPlayer):
    """Defects and cooperates by turns, the first move being `first` (SEPO)."""

    first: str = "D"
    """Opening move, C or D."""

    def __post_init__(self) -> None:
        if self.first not in ("C", "D"):
            raise BadParameter(f"AlternateDefect opens with first=C or first=D, not {self.first!r}.")

    def cooperates(self, facts: MatrixFacts) -> bool:
        return (facts.round % 2 == 0) == (self.first == "C")


@dataclass(frozen=True)
class Mixed(IteratedPlayer):
    """Cooperates with probability `p` in every round, whatever happens (SEPO)."""

    traits = Traits(stochastic=True)
    p: float = 0.7

    def __post_init__(self) -> None:
        within(self, "p", self.p, 0.0, 1.0)

    def cooperates(self, facts: MatrixFacts) -> float:
        return self.p


class TitForTat(IteratedPlayer):
    """Cooperates first, then copies the other's last action (Rapoport, in Axelrod 1980)."""

    traits = Traits(memory=1)

    def cooperates(self, facts: MatrixFacts) -> bool:
        return not facts.theirs or facts.theirs[-1] == COOPERATE


class SuspiciousTitForTat(IteratedPlayer):
    """Defects first, then copies the other's last action (Boyd and Lorberbaum 1987)."""

    traits = Traits(memory=1)

    def cooperates(self, facts: MatrixFacts) -> bool:
        return bool(facts.theirs) and facts.theirs[-1] == COOPERATE


class TitForTwoTats(IteratedPlayer):
    """Cooperates unless the other defected in both of the last two rounds (Axelrod 1980)."""

    traits = Traits(memory=2)

    def cooperates(self, facts: MatrixFacts) -> bool:
        return facts.theirs[-2:] != (DEFECT, DEFECT)


@dataclass(frozen=True)
class GenerousTFT(IteratedPlayer):
    """Tit for tat that answers a defection with cooperation with probability `forgiveness` (Nowak and Sigmund 1992)."""

    traits = Traits(stochastic=True, memory=1)
    forgiveness: float = 1 / 3
    """Probability of cooperation after a defection.

    One third is the largest that payoffs 5, 3, 1, 0 allow without being exploited.
    """

    def __post_init__(self) -> None:
        within(self, "forgiveness", self.forgiveness, 0.0, 1.0)

    def cooperates(self, facts: MatrixFacts) -> float:
        return self.forgiveness if facts.theirs[-1:] == (DEFECT,) else 1.0


@dataclass(frozen=True)
class Joss(IteratedPlayer):
    """Tit for tat that answers cooperation with a sly defection with probability `slyness` (Joss, in Axelrod 1980)."""

    traits = Traits(stochastic=True, memory=1)
    slyness: float = 0.1

    def __post_init__(self) -> None:
        within(self, "slyness", self.slyness, 0.0, 1.0)

    def cooperates(self, facts: MatrixFacts) -> float:
        if not facts.theirs:
            return 1.0
        return 0.0 if facts.theirs[-1] == DEFECT else 1.0 - self.slyness


class GrimTrigger(IteratedPlayer):
    """Cooperates until the other has defected once, then defects for ever (Friedman 1971)."""

    traits = Traits(memory=None)

    def cooperates(self, facts: MatrixFacts) -> bool:
        return DEFECT not in facts.theirs


class Pavlov(IteratedPlayer):
    """Win-stay, lose-shift: cooperates first, then exactly if both did the same last (Nowak and Sigmund 1993)."""

    traits = Traits(memory=1)

    def cooperates(self, facts: MatrixFacts) -> bool:
        return facts.mine[-1:] == facts.theirs[-1:]


class FirmButFair(IteratedPlayer):
    """Cooperates but after having been the only one to; after mutual defection with probability 2/3 (Frean 1994)."""

    traits = Traits(stochastic=True, memory=1)

    def cooperates(self, facts: MatrixFacts) -> float:
        if facts.theirs[-1:] != (DEFECT,):
            return 1.0
        return 2 / 3 if facts.mine[-1] == DEFECT else 0.0


class SoftMajority(IteratedPlayer):
    """Cooperates as long as the other has cooperated at least as often as not (Beaufils, Delahaye and Mathieu 1996)."""

    traits = Traits(memory=None)

    def cooperates(self, facts: MatrixFacts) -> bool:
        return 2 * facts.theirs.count(COOPERATE) >= len(facts.theirs)


class HardMajority(IteratedPlayer):
    """Cooperates only while the other has cooperated more often than not (Beaufils, Delahaye and Mathieu 1996)."""

    traits = Traits(memory=None)

    def cooperates(self, facts: MatrixFacts) -> bool:
        return 2 * facts.theirs.count(COOPERATE) > len(facts.theirs)


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "AlwaysCooperate": AlwaysCooperate,
    "AlwaysDefect": AlwaysDefect,
    "AlternateDefect": AlternateDefect,
    "Mixed": Mixed,
    "TitForTat": TitForTat,
    "SuspiciousTitForTat": SuspiciousTitForTat,
    "TitForTwoTats": TitForTwoTats,
    "GenerousTFT": GenerousTFT,
    "Joss": Joss,
    "GrimTrigger": GrimTrigger,
    "Pavlov": Pavlov,
    "FirmButFair": FirmButFair,
    "SoftMajority": SoftMajority,
    "HardMajority": HardMajority,
    "ExtortZD": ExtortZD,
    "GenerousZD": GenerousZD,
}
"""Players of the dilemma and of every game like it, by name."""
