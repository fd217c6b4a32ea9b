"""Payoff of the best memory-one policy: best responses to players whose best answers are known."""

import pytest

from stratagem.algorithms.shapellm.interest import all_memory_one, interests
from stratagem.algorithms.shapellm.seat import Seat
from stratagem.algorithms.shapellm.seat_settings import TabularSettings
from stratagem.algorithms.shapellm.shapers.seat import ExactSeat, ExactSettings
from stratagem.algorithms.shapellm.tabular_seat import TabularSeat
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player

GAME = make_game("ipd-shapellm(rounds=20)")


def test_all_memory_one_yields_32_distinct_policies():
    found = list(all_memory_one())
    assert len(found) == len(set(found)) == 32


@pytest.mark.parametrize(
    ("opponent", "possible"),
    [("ipd/AlwaysDefect", 1.0), ("ipd/AlwaysCooperate", 4.0), ("ipd/TitForTat", 3.0), ("ipd/GrimTrigger", 3.0)],
)
def test_interests_find_the_best_memory_one_policy(opponent, possible):
    """Defect against who never or always cooperates; cooperate with who answers in kind."""
    seat = TabularSeat("t", TabularSettings(initial_probability=0.5), 1)
    told = interests(GAME, {"t": seat, "other": Seat(make_player(opponent, GAME))}, 20, Key(0))
    assert list(told) == ["t"], "who does not learn has no interest here"
    assert told["t"]["possible"] == possible
    assert 0.0 < told["t"]["earned"] < possible


def test_interests_are_measured_in_the_learners_seat():
    """Matching pennies against who always says heads: seat 1 wins by saying tails."""
    game = make_game("imp(rounds=6)")
    seats = {
        "other": TabularSeat("o", TabularSettings(initial_probability=1.0 - 1e-12), 6),
        "t": TabularSeat("t", TabularSettings(initial_probability=0.5), 1),
    }
    told = interests(game, seats, 10, Key(1))
    assert told["t"]["possible"] == 1.0
    assert told["t"]["first"] == 1


@pytest.mark.parametrize("slot", [0, 1])
def test_interests_of_exact_learners_need_no_games(slot):
    """Against who always goes in chicken, swerving pays 1 and an even mixture 1 in two rounds of four, else -5."""
    game = make_game("icg(rounds=4)")
    seats = {"t": ExactSeat("t", ExactSettings(), game, slot, Key(0)), "o": Seat(make_player("AlwaysDefect", game))}
    told = interests(game, dict(list(seats.items())[:: 1 - 2 * slot]), 0, Key(1))["t"]
    assert told["possible"] == pytest.approx(1.0)
    assert told["earned"] == pytest.approx((1.0 - 5.0) / 2)
    assert told["first"] == 0


def test_interests_are_empty_in_other_games():
    assert interests(make_game("auction"), {}, 5, Key(0)) == {}
