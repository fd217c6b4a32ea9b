"""Seats that learn by exact values: equal starts, steps at the same time, and a state to continue from."""

import pytest
import torch

from stages import run_trial
from stratagem.algorithms.shapellm.algorithm import Trials
from stratagem.algorithms.shapellm.metrics import first_log_odds
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seats import SeatFactory
from stratagem.algorithms.shapellm.shapers.memory_one import naive_gradient
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key

TEXT = "ipd-shapellm(rounds=2)"
GAME = make_game(TEXT)


def seated(one="exact", two="exact", seed=0, **settings):
    seats = {"one": {"learner": one, "initial_std": 1.0, **settings}, "two": {"learner": two, "initial_std": 1.0}}
    recipe = ShapeLLMRecipe.read({"game": TEXT, "seats": seats, "seed": seed, "environments": 2})
    return SeatFactory(recipe, GAME, {}).seats()


def policies(seats):
    return [torch.tensor(first_log_odds(GAME, slot, seat)).double() for slot, seat in enumerate(seats.values())]


@pytest.mark.parametrize("kind", ["lola", "mfos", "advantage-alignment"])
def test_learners_of_all_kinds_begin_alike(kind):
    assert torch.equal(policies(seated(kind))[0], policies(seated())[0])
    assert torch.allclose(policies(seated("tabular"))[0], policies(seated())[0])


def test_initial_policies_follow_from_the_seed_and_differ_by_seat():
    one, two = policies(seated())
    assert not torch.equal(one, two)
    assert not torch.equal(one, policies(seated(seed=1))[0])
    spread = torch.stack([policy for seed in range(40) for policy in policies(seated(seed=seed))])
    assert spread.std().item() == pytest.approx(1.0, abs=0.15)
    assert spread.mean().item() == pytest.approx(0.0, abs=0.15)


def test_seats_step_at_the_same_time():
    seats = seated(learning_rate=0.5)
    own, other = policies(seats)
    run_trial(Trials(GAME, seats, 1, 1, Key(0)), 0)
    game = seats["one"].game
    expected = [
        own + 0.5 * naive_gradient(game, own, other),
        other + 1.0 * naive_gradient(game.swap_seats(), other, own),
    ]
    for found, step in zip(policies(seats), expected, strict=True):
        assert torch.allclose(found, step)


def test_update_reports_the_value_per_round_and_state_restores_the_policy(tmp_path):
    seats, again = seated("lola"), seated("lola", seed=3)
    own, other = policies(seats)
    told = run_trial(Trials(GAME, seats, 1, 1, Key(0)), 0).learnt
    assert told["one/score"] == pytest.approx(seats["one"].game.values(own, other)[0].item() / 2)
    for name, seat in again.items():
        seat.restore(seats[name].state(), tmp_path)
    assert all(map(torch.allclose, policies(again), policies(seats)))


def test_state_before_the_first_update_restores_the_policy(tmp_path):
    seats, again = seated(initial_probability=0.9), seated(seed=3)
    for name, seat in again.items():
        seat.restore(seats[name].state(), tmp_path)
    assert all(map(torch.allclose, policies(again), policies(seats)))
