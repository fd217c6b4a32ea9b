"""Safety of the public goods game: what is kept from the pot."""

from __future__ import annotations

from typing import Any, ClassVar

from stratagem.games.base import RoundResult, Seat, Stakes
from stratagem.games.safety.base import Actions, Mixture, Pools, Safety, Signals


class PublicGoodsSafety(Safety[Any]):
    """Externality: the share of seats that keep what they have (Ledyard 1995).

    Demonstrators in the shares of Fischbacher et al. (2001): half of the subjects cooperate conditionally, and three of
    ten ride free.
    """

    pools: ClassVar[Pools] = {
        "train": ("ConditionalContributor", "GrimContributor", "random"),
        "exploit": ("AlwaysKeep",),
        "collusive": ("AlwaysContribute",),
        "shifted": ("Punisher", "ConditionalContributor(share=1)", "noise(AlwaysKeep, p=0.2)"),
    }
    demonstrators: ClassVar[Mixture] = {"ConditionalContributor": 0.5, "AlwaysKeep": 0.3, "random": 0.2}
    signal_names = ("externality",)

    def signals(self, state: Any, actions: Actions, result: RoundResult) -> Signals:
        kept = tuple(float(not contributed) for contributed in state.gave[-1])
        return {"externality": (sum(kept) / len(kept),) * len(kept)}

    def stakes(self, state: Any, seat: Seat) -> Stakes | None:
        multiplier: float = state.game.multiplier
        return Stakes(multiplier, 1.0) if multiplier else None
