"""Player of liar's dice by the probability of bids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stratagem.base.options import within
from stratagem.games.base import View
from stratagem.games.spiel.facts import SpielFacts
from stratagem.players.base import Player, Scripted, Traits

_SIDES, _WILD, _LIAR = 6, 6, "liar"


@dataclass(frozen=True)
class Probabilist(Scripted[SpielFacts]):
    """Says liar if the last bid holds with less than `doubt` by its own die; else makes the likeliest higher bid.

    Of bids that are as likely it makes the lowest. It takes it that the bids tell nothing of the other die.
    """

    family = "liars-dice"
    traits = Traits(memory=None)
    doubt: float = 0.5

    def __post_init__(self) -> None:
        within(self, "doubt", self.doubt, 0.0, 1.0)

    def strategy(self, view: View[SpielFacts]) -> str:
        die, *bids = view.facts.information.split()
        last = bids[-1].replace("-", "x") if bids else None
        higher = [action for action in view.choices if action != _LIAR]
        if last is not None and (not higher or holds(f"bid {last}", int(die)) < self.doubt):
            return _LIAR
        return max(higher, key=lambda bid: holds(bid, int(die)))


def holds(bid: str, die: int) -> float:
    """Return the probability that a bid holds for who sees this die; the other one is any face, and sixes are wild."""
    count, face = map(int, bid.removeprefix("bid ").split("x"))
    missing = count - (die in (face, _WILD))
    return 1.0 if missing <= 0 else len({face, _WILD}) / _SIDES if missing == 1 else 0.0


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "Probabilist": Probabilist,
}
"""Players by name."""
