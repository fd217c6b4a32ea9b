"""Training on drawn games: its games, its runs, and what an imitator must see."""

import json

import drawn_training
import numpy as np
import pytest
from drawn_agents import ListedGame, solve_game
from drawn_imitators import SIGHTS, imitate, learn, meaning, place, rank
from drawn_training import ARMS, TESTS, arms, gate, training_games

GAME = "drawn(seed=1)"


@pytest.fixture
def lists(monkeypatch):
    """Two unseen games, and draws without solving: each odd seed has the digest of the even one before."""

    class Draw:
        def __init__(self, seed, family, size):
            self.digest = f"digest {seed - seed % 2}"
            self.description = type("Description", (), {"seats": 3 if seed % 5 == 0 else 2})
            self.worth = type("Worth", (), {"constant_sum": True})

    monkeypatch.setattr(drawn_training, "draw_game", Draw)
    unseen = [ListedGame("drawn(seed=2, family=cards)", "cards", "digest 10002"), ListedGame("drawn", "cards", "other")]
    monkeypatch.setattr(drawn_training, "unseen_games", lambda folder: unseen)


def test_training_games_are_apart_from_the_unseen_ones(lists, tmp_path):
    names = training_games(tmp_path)
    assert len(names) == len(set(names)) == drawn_training.TRAINED
    assert names[:3] == ("drawn(seed=10001)", "drawn(seed=10004)", "drawn(seed=10006)")
    # left out: three seats, an unseen digest twice, three seats; and then 10007, which equals 10006
    assert "drawn(seed=10007)" not in names


def test_arms_start_from_one_model_and_differ_in_the_weight_alone(lists, tmp_path):
    sft, *others = arms(tmp_path, [4])
    assert [one.name for one in (sft, *others)] == ["sft-4", *(f"{name}-4" for name in ARMS)]
    assert next(iter(gate(tmp_path, [4]))) == sft
    penalised, control = (dict(one.changes) for one in others)
    assert control.pop("sepo.exploitability_weight") == "0"
    assert penalised == control
    assert penalised["model"].endswith("sft-4@start")
    assert json.loads(penalised["validation_games"]) == ["drawn(seed=2, family=cards)", "drawn"]


def test_families_are_those_that_were_declared():
    assert {name: len(tests) for name, tests in TESTS.items()} == {"gate": 1, "training": 4}


def test_tests_are_over_the_seeds_that_both_arms_have():
    """The seed 0 is of the pilot, and random play is 1 in each seed."""
    rows = {
        arm: [{"seed": seed, drawn_training.UNSEEN: value + seed / 10} for seed in range(4)]
        for arm, value in (("sft", 0.5), ("with", 0.2), ("without", 0.2))
    }
    for own in rows.values():
        for row in own:
            row[drawn_training.IN_KUHN] = row[drawn_training.UNSEEN]
    found = {test.name: test for _, test in drawn_training.tested(rows)}
    assert len(found) == 5
    assert {test.estimate.n for test in found.values()} == {3}
    gate_test = found["SFT less random play, unseen draws"]
    assert (gate_test.estimate.mean, gate_test.p) == (pytest.approx(-0.3), 0.25)


def test_sights_tell_what_they_say():
    views = [known.view for known in solve_game(GAME).tree.information_sets]
    assert {len(view.facts.legal) for view in views} == {place(view) for view in views}
    assert all(len(meaning(view)) == len(view.facts.legal) and all(meaning(view)) for view in views)
    assert {level for _, level in map(rank, views)} <= {-1, 0, 1, 2}
    assert len({level for _, level in map(rank, views)}) > 1


@pytest.mark.parametrize("name", SIGHTS)
def test_an_imitator_plays_the_mean_of_what_looks_alike(name):
    """A sight that tells all situations of one game apart would play its solution; each policy is one in any case."""
    solved, sight = solve_game(GAME), SIGHTS[name]
    policy = imitate(solved, learn([solved], sight), sight)
    sums = np.add.reduceat(policy, solved.tree.slots[:-1])
    assert sums == pytest.approx(np.ones(len(sums)))
    keys = [sight(known.view) for known in solved.tree.information_sets]
    first = policy[: solved.tree.slots[1]]
    alike = [index for index, key in enumerate(keys) if key == keys[0]]
    assert all(
        policy[solved.tree.slots[index] : solved.tree.slots[index + 1]] == pytest.approx(first) for index in alike
    )


def test_an_imitator_that_sees_all_plays_the_solution():
    solved = solve_game(GAME)
    policy = imitate(
        solved, learn([solved], lambda view: (view.seat, view.info_key)), lambda view: (view.seat, view.info_key)
    )
    assert solved.scaled.gain_share(solved.scaled.all_figures(policy)) == pytest.approx(
        solved.solution.nash_conv_share, abs=1e-6
    )
