"""A game of your own: three seats give or keep, and a good is made if two give."""

from collections.abc import Mapping
from dataclasses import dataclass

from stratagem.games import Flat, Game, GameSpec, RoundResult, Seat, State, View


class GoodsState(State[int]):
    """Nothing to remember: one round, and then it is over."""

    def view(self, seat: Seat) -> View[int]:
        return View(self.game, seat, seat)

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != set(self.to_act) or not set(actions.values()) <= {"GIVE", "KEEP", None}:
            raise self.refuse(actions)
        made = 3.0 if list(actions.values()).count("GIVE") >= 2 else 0.0
        self.end()
        return RoundResult(tuple(made - (actions[seat] == "GIVE") for seat in sorted(actions)))


@dataclass(frozen=True)
class ThresholdGoods(Game[int]):
    """One round of a public good with a threshold; a seat's facts are no more than its number."""

    state = GoodsState
    spec = GameSpec(name="threshold-goods", family="threshold-goods", summary="Two of three must give.", seats=3,
                    rounds=1, simultaneous=True, utility="general-sum", bounds=(-1.0, 3.0), chance=False,
                    private_information=False, symmetric=True, on_illegal="null")  # fmt: skip

    def choices(self, facts: int) -> Flat:
        return Flat(("GIVE", "KEEP"))

    def rules(self, seat: Seat) -> str:
        return "Three players GIVE 1 point or KEEP it; if two or more give, everybody gets 3."

    def situation(self, facts: int) -> str:
        return "Nobody has chosen yet."
