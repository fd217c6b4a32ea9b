"""Players of Kuhn poker, each with two probabilities: to bet first, and to call a bet."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.games.base import View
from stratagem.games.kuhn.rules import KuhnFacts
from stratagem.players.base import Player, Scripted, Traits
from stratagem.players.uniform import RandomLegal

_ALPHA_MAX = 1 / 3


class KuhnPlayer(Scripted[KuhnFacts]):
    """Player whose whole rule is two probabilities."""

    family = "kuhn"

    @abstractmethod
    def bets(self, facts: KuhnFacts) -> float:
        """Return the probability of betting where nobody has."""

    @abstractmethod
    def calls(self, facts: KuhnFacts) -> float:
        """Return the probability of calling a bet."""

    def strategy(self, view: View[KuhnFacts]) -> str | Mapping[str, float]:
        facing = view.facts.facing_bet
        yes, no = ("CALL", "FOLD") if facing else ("BET", "PASS")
        p = self.calls(view.facts) if facing else self.bets(view.facts)
        return yes if p >= 1.0 else no if p <= 0.0 else {no: 1.0 - p, yes: p}


@dataclass(frozen=True)
class NashApprox(KuhnPlayer):
    """An equilibrium, for every `alpha` from 0 to 1/3 (Kuhn 1950; SEPO has 1/3).

    The opener bets J with alpha and K with three times that, never Q, and calls with Q at alpha + 1/3; the other bets K
    and a third of J after a pass, and calls a bet with K and a third of Q.
    """

    traits = Traits(stochastic=True)
    alpha: float = _ALPHA_MAX

    def __post_init__(self) -> None:
        within(self, "alpha", self.alpha, 0.0, _ALPHA_MAX)

    def bets(self, facts: KuhnFacts) -> float:
        opening = {"J": self.alpha, "Q": 0.0, "K": 3.0 * self.alpha}
        return opening[facts.card] if facts.opens else {"J": 1 / 3, "Q": 0.0, "K": 1.0}[facts.card]

    def calls(self, facts: KuhnFacts) -> float:
        return {"J": 0.0, "Q": 1 / 3 + self.alpha * facts.opens, "K": 1.0}[facts.card]


class AlwaysPassQueen(NashApprox):
    """Passes and folds every Q, and else plays NashApprox (SEPO)."""

    def bets(self, facts: KuhnFacts) -> float:
        return 0.0 if facts.card == "Q" else super().bets(facts)

    def calls(self, facts: KuhnFacts) -> float:
        return 0.0 if facts.card == "Q" else super().calls(facts)


class TightPassive(KuhnPlayer):
    """Bets and calls with K only (SEPO)."""

    def bets(self, facts: KuhnFacts) -> float:
        return facts.card == "K"

    def calls(self, facts: KuhnFacts) -> float:
        return facts.card == "K"


class LooseAggressive(KuhnPlayer):
    """Bets every card, calls with Q and K (SEPO)."""

    def bets(self, facts: KuhnFacts) -> float:
        return 1.0

    def calls(self, facts: KuhnFacts) -> float:
        return facts.card != "J"


class AlwaysBet(KuhnPlayer):
    """Bets and calls every card (SEPO)."""

    def bets(self, facts: KuhnFacts) -> float:
        return 1.0

    def calls(self, facts: KuhnFacts) -> float:
        return 1.0


class TightValue(KuhnPlayer):
    """Bets K, calls with Q and K (SEPO)."""

    def bets(self, facts: KuhnFacts) -> float:
        return facts.card == "K"

    def calls(self, facts: KuhnFacts) -> float:
        return facts.card != "J"


class PotControl(KuhnPlayer):
    """Never bets, calls with Q and K (SEPO)."""

    def bets(self, facts: KuhnFacts) -> float:
        return 0.0

    def calls(self, facts: KuhnFacts) -> float:
        return facts.card != "J"


class CallingStation(KuhnPlayer):
    """Never bets, calls with every card (a type of player that poker books name)."""

    def bets(self, facts: KuhnFacts) -> float:
        return 0.0

    def calls(self, facts: KuhnFacts) -> float:
        return 1.0


class Bluffer(KuhnPlayer):
    """Bets J and K, never Q; calls with K only."""

    def bets(self, facts: KuhnFacts) -> float:
        return facts.card != "Q"

    def calls(self, facts: KuhnFacts) -> float:
        return facts.card == "K"


class Trapper(KuhnPlayer):
    """Opens with a pass on every card, bets K when passed to, calls with Q and K."""

    def bets(self, facts: KuhnFacts) -> float:
        return facts.card == "K" and not facts.opens

    def calls(self, facts: KuhnFacts) -> float:
        return facts.card != "J"


class Suspicious(KuhnPlayer):
    """Bets K, and calls with every card, since every bet may be a bluff."""

    def bets(self, facts: KuhnFacts) -> float:
        return facts.card == "K"

    def calls(self, facts: KuhnFacts) -> float:
        return 1.0


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "NashApprox": NashApprox,
    "TightPassive": TightPassive,
    "LooseAggressive": LooseAggressive,
    "AlwaysBet": AlwaysBet,
    "TightValue": TightValue,
    "PotControl": PotControl,
    "AlwaysPassQueen": AlwaysPassQueen,
    "CallingStation": CallingStation,
    "Bluffer": Bluffer,
    "Trapper": Trapper,
    "Suspicious": Suspicious,
    "RandomLegal": RandomLegal,
}
"""Players by name."""
