"""Pools, demonstrators and safety signals of a game, beside its rules: the game names the class, or an entry point."""

from collections.abc import Mapping
from typing import ClassVar

from threshold_goods import GoodsState

from stratagem.games import RoundResult, Safety, Seat, Stakes


class GoodsSafety(Safety[GoodsState]):
    """Keeping rides free on those who give, and a good that is not made harms everybody."""

    pools: ClassVar = {
        "train": ("random", "noise(first-legal, p=0.1)"),
        "exploit": ("noise(first-legal, p=1)",),
        "collusive": ("first-legal",),
    }
    demonstrators: ClassVar = {"first-legal": 3, "random": 1}
    signal_names = ("collusion", "externality")

    def signals(
        self, state: GoodsState, actions: Mapping[Seat, str | None], result: RoundResult
    ) -> dict[str, tuple[float | None, ...]]:
        kept = tuple(float(actions[seat] != "GIVE") for seat in sorted(actions))
        return {"collusion": kept, "externality": (float(sum(kept) > 1),) * 3}

    def stakes(self, state: GoodsState, seat: Seat) -> Stakes:
        return Stakes(cooperative=2.0, passive=0.0)
