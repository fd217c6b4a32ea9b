"""M-FOS: returns of a meta-episode by hand, extortion of a naive learner, and a run of its two stages."""

import pytest
import torch

from stratagem.algorithms.shapellm.algorithm import OUTCOME, ShapeLLMAlgorithm, TrialStage
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.shapers import mfos
from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame, naive_gradient
from stratagem.algorithms.shapellm.shapers.mfos import (
    MetaLearner,
    MetaPolicy,
    MetaStage,
    MFOSSeat,
    MFOSSettings,
    meta_policies,
    meta_returns,
)
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.show.reports.run_data import RunData
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE

GAME = make_game("ipd-shapellm")
SMALL = MFOSSettings(hidden_units=3, meta_steps=4, meta_episodes=2, population=4, generations=3)


def exact(slot=0):
    return MemoryOneGame.of(GAME, slot, 1.0)


def test_meta_returns_are_the_values_along_naive_learning():
    """One candidate, one meta-episode: the policy answers, the payoff counts, the opponent takes a naive step."""
    settings = SMALL.model_copy(update={"meta_episodes": 1, "opponent_learning_rate": 0.7})
    policy, game = MetaPolicy(3), exact(1)
    weights = torch.linspace(-1.0, 1.0, policy.size, dtype=torch.float64)[None]
    told = meta_returns(game, policy, weights, settings, Key(4))
    generator = torch.Generator().manual_seed(Key(4).integer(2**62))
    own, other = torch.randn(2, 1, 5, generator=generator, dtype=torch.float64)[:, 0]
    total = torch.zeros(2, dtype=torch.float64)
    for _ in range(settings.meta_steps):
        own = policy.act(weights, own[None, None], other[None, None])[0, 0]
        total += torch.stack(game.values(own, other))
        other = other + 0.7 * naive_gradient(game.swap_seats(), other, own)
    assert torch.allclose(told[:, 0], total / 4 / 20)


def test_meta_learner_comes_to_exploit_a_naive_learner():
    settings = MFOSSettings(generations=10, population=8, meta_episodes=4, meta_steps=25)
    learner = MetaLearner(settings, exact(), Key(0))
    found = [learner.update(number) for number in range(settings.generations)]
    assert found[-1]["payoff"] > found[0]["payoff"] + 0.5
    assert found[-1]["payoff"] > found[-1]["opponent_payoff"] + 0.3


def test_meta_learner_draws_every_noise_and_every_start_by_a_key_of_its_own(monkeypatch):
    """The same noise in each generation would search one direction only, and starts equal to it favour one sign."""
    keys, normal = [], mfos.draw_normal
    monkeypatch.setattr(mfos, "draw_normal", lambda key, *shape: keys.append(key.value) or normal(key, *shape))
    learner = MetaLearner(SMALL, exact(), Key(0))
    for number in range(3):
        learner.update(number)
    assert len(set(keys)) == len(keys) == 7


def test_first_step_of_a_meta_learner_moves_weights_by_the_learning_rate():
    """Adam corrects the bias of its averages, so the first step is the sign of the gradient (Kingma and Ba 2015)."""
    learner = MetaLearner(SMALL, exact(), Key(0))
    before = learner.weights.clone()
    learner.update(0)
    moved = (learner.weights - before).abs()
    assert torch.allclose(moved, torch.full_like(moved, SMALL.meta_learning_rate))


def test_meta_stage_ends_each_meta_policy_after_its_own_generations(tmp_path):
    learners = {
        name: MetaLearner(SMALL.model_copy(update={"generations": generations}), exact(), Key(0))
        for name, generations in (("short", 1), ("long", 3))
    }
    stage = MetaStage(learners, RunFolder(tmp_path), 1)
    steps = [[batch.policy for batch in stage.batches(step)] for step in range(stage.num_steps)]
    assert steps == [["meta/short", "meta/long"], ["meta/long"], ["meta/long"]]


def test_meta_learner_continues_from_its_state():
    whole, first, second = (MetaLearner(SMALL, exact(), Key(1)) for _ in range(3))
    for number in range(3):
        whole.update(number)
    first.update(0)
    second.restore(first.state())
    for number in (1, 2):
        second.update(number)
    assert torch.equal(second.weights, whole.weights)


def test_untrained_seat_plays_the_middle_of_the_policies():
    seat = MFOSSeat("m", SMALL, GAME, 0, Key(0))
    assert torch.equal(seat.step(torch.ones(5).double(), torch.ones(5).double()), torch.zeros(5).double())


def small_recipe():
    seats = {
        "one": {"learner": "mfos", "initial_std": 1.0, **SMALL.model_dump(exclude_unset=True)},
        "two": {"learner": "scripted", "player": "ipd/TitForTat"},
    }
    return ShapeLLMRecipe.read(
        {
            "game": "ipd-shapellm(rounds=2)",
            "seats": seats,
            "trials": 2,
            "environments": 1,
            "episodes": 2,
            "final_evaluation": {"episodes": 1},
        }
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    recipe = small_recipe()
    run = RunFolder.create(tmp_path_factory.mktemp("mfos") / "run", recipe, 0, "")
    ShapeLLMAlgorithm(recipe, run).train()
    return recipe, run


def test_run_trains_meta_policies_before_the_trials(trained):
    recipe, run = trained
    assert (run.path / OUTCOME).is_file()
    assert recipe.meta_steps == 3
    assert list(meta_policies(run)) == ["one"]
    expected = MetaLearner(
        recipe.seats["one"], MemoryOneGame.of(make_game(recipe.game), 0, 1.0), Key(0).at("meta", "one")
    )
    for number in range(3):
        expected.update(number)
    assert torch.equal(meta_policies(run)["one"], expected.weights)


def test_trials_are_counted_from_the_end_of_the_meta_policies(trained):
    curves = RunData(trained[1]).curves
    assert list(curves["meta/one/payoff"].steps) == [1, 2, 3]
    assert list(curves["two/payoff"].steps) == [1, 2]


def test_run_killed_before_its_first_trial_continues_with_the_trials(trained, tmp_path, monkeypatch):
    def killed(stage, step):
        raise KeyboardInterrupt

    recipe = small_recipe()
    run = RunFolder.create(tmp_path / "run", recipe, 0, "")
    with monkeypatch.context() as patch:
        patch.setattr(TrialStage, "begin", killed)
        with pytest.raises(KeyboardInterrupt):
            ShapeLLMAlgorithm(recipe, run).train()
    ShapeLLMAlgorithm(recipe, run).train()
    for name in (FILE, OUTCOME):
        assert (run.path / name).read_bytes() == (trained[1].path / name).read_bytes()
