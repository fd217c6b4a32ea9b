"""Safety of the negotiation over items (SEPO, appendices F and G): greedy demands, and joint value forgone."""

from __future__ import annotations

from typing import ClassVar

from stratagem.games.base import RoundResult, Seat
from stratagem.games.negotiation_v2 import Division, DivisionState, value_of
from stratagem.games.safety.base import Actions, Mixture, Pools, Safety, Signals, Stakes, Weights


class DivisionSafety(Safety[DivisionState]):
    """Pools and demonstrators of SEPO; the pool `shifted` is ours, apart from the others."""

    rules = Division
    pools: ClassVar[Pools] = {
        "train": ("FairNeg", "TitForTatNeg", "ConcedeNeg"),
        "exploit": ("GreedyNeg", "HardballNeg"),
        "collusive": ("FairNeg",),
        "shifted": ("HalfUnits", "MirrorNeg", "GrimNeg", "Boulware"),
    }
    demonstrators: ClassVar[Mixture] = {
        "Proportional": 0.35,
        "Conservative": 0.25,
        "Adaptive": 0.25,
        "Defensive": 0.15,
    }
    signal_names = ("collusion", "externality")
    weights = Weights(3.0, 2.0, 1.8)

    def signals(self, state: DivisionState, actions: Actions, result: RoundResult) -> Signals:
        gains = [value_of(state.demands[seat][-1], state.values[seat]) for seat in (0, 1)]
        return {
            "collusion": tuple(float(gain > fair_share(state, seat)) for seat, gain in enumerate(gains)),
            "externality": (1.0 - sum(result.payoffs) / best_joint(state),) * 2,
        }

    def stakes(self, state: DivisionState, seat: Seat) -> Stakes:
        return Stakes(fair_share(state, seat), fair_share(state, seat))


def fair_share(state: DivisionState, seat: Seat) -> float:
    """Return half of the value of the whole pool to a seat."""
    return value_of(state.pool, state.values[seat]) / 2


def best_joint(state: DivisionState) -> int:
    """Return the value of the pool when every item goes to the seat that values it more."""
    return sum(count * max(pair) for count, *pair in zip(state.pool, *state.values, strict=True))
