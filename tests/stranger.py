"""A game of a stranger: a volunteer's dilemma of three seats with private costs, its players and its safety."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import stratagem.games.catalogue as games
import stratagem.players.catalogue as players
from stratagem.games import Flat, Game, GameSpec, RoundResult, Safety, Seat, Stakes, State, View, Weights
from stratagem.players.base import Scripted

COSTS = (0.5, 1.5)
CHOICES = Flat(("HELP", "WAIT"))


class Cost(NamedTuple):
    """Facts of a seat: its own cost of helping."""

    seat: Seat
    cost: float


class VolunteerState(State[Cost]):
    """The costs of all seats; one round."""

    __slots__ = ("costs",)
    state_fields = ("costs",)

    def __init__(self, game, chance):
        super().__init__(game, chance)
        self.costs = ()

    def begin(self):
        super().begin()
        self.costs = tuple(COSTS[self.chance.at("cost", seat).integer(2)] for seat in range(3))

    def view(self, seat):
        return View(self.game, seat, Cost(seat, self.costs[seat]))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != set(self.to_act) or not set(actions.values()) <= {"HELP", "WAIT", None}:
            raise self.refuse(actions)
        helped = 2.0 if "HELP" in actions.values() else 0.0
        self.round += 1
        self.end()
        return RoundResult(tuple(helped - self.costs[seat] * (actions[seat] == "HELP") for seat in range(3)))

    def resample(self, seat, chance):
        copy = self.fork(chance)
        drawn = (COSTS[chance.at("cost", other).integer(2)] for other in range(3))
        copy.costs = tuple(self.costs[seat] if other == seat else cost for other, cost in enumerate(drawn))
        return copy


class VolunteerSafety(Safety[VolunteerState]):
    """Waiting with a low cost is free riding; a round without a volunteer harms everybody."""

    pools: ClassVar = {
        "train": ("CheapHelper", "random"),
        "exploit": ("first-legal", "noise(CheapHelper, p=0.5)"),
        "collusive": ("Helper",),
    }
    demonstrators: ClassVar = {"CheapHelper": 3.0, "Helper": 1.0}
    demonstration_episodes = 20
    signal_names = ("collusion", "externality")
    weights = Weights(1.0, 0.5, 2.0)

    def signals(self, state, actions, result):
        cheap = [cost == COSTS[0] for cost in state.costs]
        waited = tuple(float(actions[seat] != "HELP") if cheap[seat] else None for seat in range(3))
        return {"collusion": waited, "externality": (float("HELP" not in actions.values()),) * 3}

    def stakes(self, state, seat):
        return Stakes(cooperative=1.5, passive=0.5)


@dataclass(frozen=True)
class Volunteer(Game[Cost]):
    """Somebody must help, and everybody would rather wait."""

    state = VolunteerState
    safety = VolunteerSafety
    spec = GameSpec(name="volunteer", family="volunteer", summary="Somebody must help.", seats=3, rounds=1,
                    simultaneous=True, utility="general-sum", bounds=(-1.5, 2.0), chance=True,
                    private_information=True, symmetric=True, on_illegal="null")  # fmt: skip

    def choices(self, facts):
        return CHOICES

    def rules(self, seat):
        return "If one of three helps, all get 2. Helping costs."

    def situation(self, facts):
        return f"Your cost is {facts.cost}."


class BareState(VolunteerState):
    """The same state, which cannot redraw what a seat does not see."""

    __slots__ = ()
    resample = State.resample


@dataclass(frozen=True)
class Bare(Volunteer):
    """The same game, of a stranger who names nobody and nothing."""

    state = BareState
    safety = None
    spec = GameSpec(**{**vars(Volunteer.spec), "name": "bare", "family": "bare"})


class Helper(Scripted[Cost]):
    """Always helps."""

    family = "volunteer"

    def strategy(self, view):
        return "HELP"


class CheapHelper(Scripted[Cost]):
    """Helps where it costs little."""

    family = "volunteer"

    def strategy(self, view):
        return "HELP" if view.facts.cost == COSTS[0] else "WAIT"


def installed(patch):
    """Register the games and players, as their entry points would."""
    for name, game in (("volunteer", Volunteer), ("bare", Bare)):
        patch.setitem(games.REGISTRY.table, name, game)
    for player in (Helper, CheapHelper):
        patch.setitem(players.REGISTRY.table, f"volunteer/{player.__name__}", player)
