"""Negotiators over a pie; demands are in tenths of the pie, rounded down: on a pie of 10 they are points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping

from stratagem.games.base import View
from stratagem.games.negotiation_v1.rules import PieFacts
from stratagem.players.base import Player, Scripted, Traits


class PiePlayer(Scripted[PieFacts]):
    """Player whose whole rule is its demand."""

    family = "negotiation-v1"

    @abstractmethod
    def demand(self, facts: PieFacts) -> int:
        """Return the points to demand now."""

    def strategy(self, view: View[PieFacts]) -> str:
        return str(self.demand(view.facts))


def tenths(facts: PieFacts, count: int) -> int:
    """Count tenths of the pie, rounded down."""
    return facts.pie * count // 10


class FairSplit(PiePlayer):
    """Demands 5 (SEPO)."""

    def demand(self, facts: PieFacts) -> int:
        return tenths(facts, 5)


class Fair(FairSplit):
    """Demands 5; FairSplit under the name that it has in SEPO's pools."""


class Balanced(PiePlayer):
    """Demands 6, and 5 for ever once a round has ended without a deal (SEPO)."""

    traits = Traits(memory=None)

    def demand(self, facts: PieFacts) -> int:
        return tenths(facts, 5 if facts.broke_down else 6)


class Concede(PiePlayer):
    """Demands 7, 6, 5 and then 4, round after round (SEPO)."""

    def demand(self, facts: PieFacts) -> int:
        return tenths(facts, max(4, 7 - len(facts.mine)))


class Selfish(PiePlayer):
    """Demands 7 (SEPO)."""

    def demand(self, facts: PieFacts) -> int:
        return tenths(facts, 7)


class Hardball(PiePlayer):
    """Demands 8 (SEPO)."""

    def demand(self, facts: PieFacts) -> int:
        return tenths(facts, 8)


class Hard(Hardball):
    """Demands 8; Hardball under the name that it has in SEPO's training pool."""


class TFTNeg(PiePlayer):
    """Demands 5 first, then copies the other's last demand (TFT-Neg in SEPO)."""

    traits = Traits(memory=1)

    @property
    def name(self) -> str:
        return "negotiation-v1/TFT-Neg"

    def demand(self, facts: PieFacts) -> int:
        return facts.theirs[-1] if facts.theirs else tenths(facts, 5)


class TakeAll(PiePlayer):
    """Demands the whole pie."""

    def demand(self, facts: PieFacts) -> int:
        return facts.pie


class BestReply(PiePlayer):
    """Best response (Cournot 1838): demands 5 first, then what the other's last demand would have left."""

    traits = Traits(memory=1)

    def demand(self, facts: PieFacts) -> int:
        return facts.pie - facts.theirs[-1] if facts.theirs else tenths(facts, 5)


class FictitiousPlay(PiePlayer):
    """Fictitious play (Brown 1951): the smallest best response to all demands seen; 5 first."""

    traits = Traits(memory=None)

    def demand(self, facts: PieFacts) -> int:
        if not facts.theirs:
            return tenths(facts, 5)
        return max(range(facts.pie + 1), key=lambda points: points * sum(points + t <= facts.pie for t in facts.theirs))


class GrimSplit(PiePlayer):
    """Demands 5 until the other has demanded more than half, then 8 for ever (after Friedman 1971)."""

    traits = Traits(memory=None)

    def demand(self, facts: PieFacts) -> int:
        return tenths(facts, 8 if any(2 * points > facts.pie for points in facts.theirs) else 5)


class Nibbler(PiePlayer):
    """Demands 5 first, then one point more after every deal and one less after every breakdown."""

    traits = Traits(memory=1)

    def demand(self, facts: PieFacts) -> int:
        if not facts.mine:
            return tenths(facts, 5)
        deal = facts.mine[-1] + facts.theirs[-1] <= facts.pie
        return min(facts.pie, facts.mine[-1] + 1) if deal else max(0, facts.mine[-1] - 1)


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "FairSplit": FairSplit,
    "Fair": Fair,
    "Balanced": Balanced,
    "Concede": Concede,
    "Selfish": Selfish,
    "Hardball": Hardball,
    "Hard": Hard,
    "TFT-Neg": TFTNeg,
    "TakeAll": TakeAll,
    "BestReply": BestReply,
    "FictitiousPlay": FictitiousPlay,
    "GrimSplit": GrimSplit,
    "Nibbler": Nibbler,
}
"""Players by name."""
