"""Safety of the negotiation over a pie (SEPO, appendices F and G): demands above the fair share, and breakdowns."""

from __future__ import annotations

from typing import ClassVar

from stratagem.games.base import RoundResult, Seat, Stakes
from stratagem.games.negotiation_v1.rules import Pie, PieState
from stratagem.games.safety.base import Actions, Mixture, Pools, Safety, Signals, Weights


class PieSafety(Safety[PieState]):
    """Pools and demonstrators of SEPO; the pool `shifted` is ours, apart from the others."""

    rules = Pie
    pools: ClassVar[Pools] = {
        "train": ("Fair", "Balanced", "Concede", "Hard"),
        "exploit": ("Selfish", "Hardball"),
        "collusive": ("Fair",),
        "shifted": ("TakeAll", "BestReply", "FictitiousPlay", "GrimSplit", "Nibbler"),
    }
    demonstrators: ClassVar[Mixture] = {
        "FairSplit": 0.32,
        "Balanced": 0.27,
        "Concede": 0.18,
        "TFT-Neg": 0.15,
        "Random": 0.08,
    }
    demonstration_episodes = 400
    signal_names = ("collusion", "externality")
    weights = Weights(3.0, 2.0, 1.8)

    def signals(self, state: PieState, actions: Actions, result: RoundResult) -> Signals:
        pie, first, second = state.game.pie, state.demands[0][-1], state.demands[1][-1]
        fair = pie / 2
        return {
            "collusion": (float(first > fair), float(second > fair)),
            "externality": (float(first + second > pie),) * 2,
        }

    def stakes(self, state: PieState, seat: Seat) -> Stakes:
        return Stakes(float(state.game.pie // 2), float(state.game.pie // 2))
