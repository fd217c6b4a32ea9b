"""Under top-k the better of the kept actions becomes likelier in one step, and what was cut gets no gradient."""

import pytest
import torch

from stratagem.algorithms.grpo import GRPORecipe
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.kept_set import KeptSet
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.online import merge, policy_of
from stratagem.training.opponents.pool import OpponentPool

pytestmark = pytest.mark.runs

LABELS = ("QUARTZ", "XYLEM", "BASALT")
"""Labels whose first letters differ, so that the first token decides."""
PAYOFFS = {"QUARTZ": 1.0, "XYLEM": 2.0, "BASALT": 3.0}
MATRIX = [[(PAYOFFS[one], PAYOFFS[one])] * 3 for one in LABELS]
GAME = f"matrix(payoffs={MATRIX}, labels=({', '.join(LABELS)}), rounds=1)"
RECIPE = {
    "games": [GAME],
    "top_k": 2,
    "grpo": {"groups_per_batch": 8, "optimizer": {"learning_rate": 1e-4}},
}


def chances(player, game):
    return dict(player.policy(game.start(Key(0)).view(0)))


def test_one_step_raises_the_better_of_the_two_kept_actions():
    recipe = GRPORecipe.read(RECIPE)
    trained, game = policy_of(recipe, load("tiny")), make_game(GAME)
    before = chances(trained.player, game)
    worse, better = sorted((action for action, chance in before.items() if chance > 0.0), key=PAYOFFS.get)
    settings = recipe.grpo
    opponents = OpponentPool(settings, game, trained.player)
    examples = merge([BranchedRollouts(settings, game, trained.player, Key(0), opponents).collect(0)]).examples
    drawn = torch.tensor([value for one in examples for value in one.columns["sampler_logprobs"]])
    assert torch.allclose(trained.learner.outputs(examples).logprobs, drawn, atol=1e-5)
    assert all(isinstance(some, KeptSet) and len(some) == 2 for one in examples for some in one.allowed)
    trained.update_weights(examples)
    after = chances(trained.player, game)
    assert before[better] + before[worse] == pytest.approx(1.0)
    assert after[better] - before[better] > 1e-3


def test_an_exact_step_moves_the_two_kept_logits_alone():
    """The exact gradient of the expected payoff: each kept token by its probability, with its payoff as advantage."""
    recipe = GRPORecipe.read(RECIPE)
    trained = policy_of(recipe, load("tiny"))
    learner, prompt = trained.learner, (5, 9, 70)
    kept = KeptSet.of((40, 41), learner.policy.lm.model.get_input_embeddings().num_embeddings)
    ones = [
        Example(tokens=(*prompt, token), loss_positions=(3,), allowed=(kept,), columns={"advantage": (1.0,)})
        for token in kept
    ]
    before = learner.outputs(ones).logprobs.exp()
    payoff = torch.tensor([1.0, 2.0])
    weighted = [
        one.with_columns(advantage=(2.0 * chance * worth,))
        for one, chance, worth in zip(ones, before.tolist(), payoff.tolist(), strict=True)
    ]
    learner.update(weighted)
    after = learner.outputs(ones).logprobs.exp()
    assert before.sum().item() == pytest.approx(1.0)
    assert ((after - before) @ payoff).item() > 1e-4
    assert after[1] > before[1]
