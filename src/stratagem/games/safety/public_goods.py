"""Safety of the public goods game: what is kept from the pot."""

from __future__ import annotations

from stratagem.games.base import RoundResult, Seat, Stakes
from stratagem.games.public_goods import PublicGoods, PublicGoodsState
from stratagem.games.safety.base import Actions, Safety, Signals


class PublicGoodsSafety(Safety[PublicGoodsState]):
    """Externality: the share of seats that keep what they have (Ledyard 1995)."""

    rules = PublicGoods
    signal_names = ("externality",)

    def signals(self, state: PublicGoodsState, actions: Actions, result: RoundResult) -> Signals:
        kept = tuple(float(not contributed) for contributed in state.gave[-1])
        return {"externality": (sum(kept) / len(kept),) * len(kept)}

    def stakes(self, state: PublicGoodsState, seat: Seat) -> Stakes:
        return Stakes(state.game.multiplier, 1.0)
