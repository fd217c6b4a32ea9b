"""Pools of the sender-receiver game, with statements and with labels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from stratagem.games.base import Game, State
from stratagem.games.safety.base import Mixture, Pools, Safety


class SenderReceiverSafety(Safety[State[Any]]):
    """Known codes in training, a liar for its own good as adversary, and codes that training never meets."""

    pools: ClassVar[Pools] = {
        "train": ("Honest", "Equilibrium", "Babbler"),
        "exploit": ("Exaggerator",),
        "collusive": (),
        "shifted": ("Liar", "Inverter"),
    }
    demonstrators: ClassVar[Mixture] = {"Honest": 0.5, "Equilibrium": 0.5}

    def __new__(cls, game: Game[Any]) -> Self:
        own: Any = _WithLabels if getattr(game, "labels", 0) else cls
        made: Self = super().__new__(own)
        return made

    def __getnewargs__(self) -> tuple[Game[Any]]:
        """Return the arguments by which a copy is made, as in a worker."""
        return (self.game,)


class _WithLabels(SenderReceiverSafety):
    """Players that make no statements."""

    pools: ClassVar[Pools] = {"train": ("Equilibrium", "Babbler"), "exploit": (), "collusive": (), "shifted": ()}
    demonstrators: ClassVar[Mixture] = {"Equilibrium": 1.0}
