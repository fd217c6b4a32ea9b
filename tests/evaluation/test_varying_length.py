"""Figures a round of a game whose number of rounds depends on who sits where."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from stratagem.games import Flat, Game, GameSpec, RoundResult, Seat, State, View
from stratagem.games.key import Key
from stratagem.measure.matchups import Evaluator, Matchup
from stratagem.players.base import Scripted


class CentipedeState(State[int]):
    """The seats move in turn, and the round is the number of the move."""

    def begin(self) -> None:
        self.to_act = (self.round % 2,)

    def view(self, seat: Seat) -> View[int]:
        return View(self.game, seat, self.round)

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        ((seat, action),) = actions.items()
        self.round += 1
        if action == "PASS" and self.round < 3:
            self.begin()
        else:
            self.end()
        won = 2.0 if action == "TAKE" else 0.0
        return RoundResult((won, 0.0) if seat == 0 else (0.0, won))


@dataclass(frozen=True)
class Centipede(Game[int]):
    """The taker gets 2 points, and the game is over; so it is after three moves."""

    state = CentipedeState
    spec = GameSpec(name="centipede", family="centipede", summary="Take or pass.", simultaneous=False, rounds=3,
                    utility="general-sum", bounds=(0.0, 2.0), chance=False, private_information=False,
                    symmetric=False)  # fmt: skip

    def choices(self, facts: int) -> Flat:
        return Flat(("TAKE", "PASS"))

    def rules(self, seat: Seat) -> str:
        return "TAKE or PASS."

    def situation(self, facts: int) -> str:
        return f"Move {facts}."


class Taker(Scripted[int]):
    """Takes."""

    def strategy(self, view: View[int]) -> str:
        return "TAKE"


class Passer(Scripted[int]):
    """Passes."""

    def strategy(self, view: View[int]) -> str:
        return "PASS"


@pytest.fixture(scope="module")
def matchup() -> Matchup:
    return Evaluator(episodes=2, key=Key(0)).matchup(Centipede(), Taker(), Passer(), ("train",))


def test_expected_payoff_a_round_is_over_the_rounds_of_all_seats(matchup: Matchup) -> None:
    """The taker ends the game in one round as seat 0, and in two as seat 1: 4 points in 3 rounds, not (2 + 1) / 2."""
    assert [expectation.rounds for expectation in matchup.expectations] == [1.0, 2.0]
    assert matchup.payoff().mean == pytest.approx(4 / 3)
    assert matchup.opponent_payoff().mean == 0.0
    assert matchup.advantage().mean == pytest.approx(-4 / 3)


def test_expected_payoff_a_round_is_that_of_play(matchup: Matchup) -> None:
    played = Matchup("passer", 1, ("train",), matchup.episodes)
    assert matchup.payoff().exact
    assert not played.payoff().exact
    for exact, sampled in ((matchup, played), (matchup.cross_seats(), played.cross_seats())):
        assert exact.payoff().mean == pytest.approx(sampled.payoff().mean)
        assert exact.opponent_payoff().mean == pytest.approx(sampled.opponent_payoff().mean)
        assert exact.advantage().mean == pytest.approx(sampled.advantage().mean)
