"""Safety of Kuhn poker (SEPO, appendices): a game of two cannot collude or do harm, so only exploitability counts."""

from __future__ import annotations

from typing import ClassVar

from stratagem.games.base import RoundResult, Seat, Stakes
from stratagem.games.kuhn.rules import Kuhn, KuhnState
from stratagem.games.safety.base import Actions, Mixture, Pools, Safety, Signals, Weights

_STAKES = Stakes(1.0, 0.0)
_NOTHING = {"collusion": (0.0, 0.0), "externality": (0.0, 0.0)}


class KuhnSafety(Safety[KuhnState]):
    """Pools and demonstrators of SEPO; the pool `shifted` is ours, and none of its players stands in another pool."""

    rules = Kuhn
    pools: ClassVar[Pools] = {
        "train": ("NashApprox", "TightPassive", "LooseAggressive"),
        "exploit": ("NashApprox", "AlwaysBet"),
        "collusive": (),
        "shifted": ("CallingStation", "Bluffer", "Trapper", "Suspicious"),
    }
    demonstrators: ClassVar[Mixture] = {
        "NashApprox": 0.45,
        "TightValue": 0.25,
        "PotControl": 0.20,
        "RandomLegal": 0.08,
        "AlwaysPassQueen": 0.02,
    }
    signal_names = ("collusion", "externality")
    weights = Weights(1.5, 0.0, 0.0)

    def signals(self, state: KuhnState, actions: Actions, result: RoundResult) -> Signals:
        return _NOTHING

    def stakes(self, state: KuhnState, seat: Seat) -> Stakes:
        """Yardsticks: one chip of ante stands for cooperation; a passive opponent leaves nothing to win."""
        return _STAKES
