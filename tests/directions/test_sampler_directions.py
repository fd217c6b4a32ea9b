"""A policy that explores by a sampler learns from its tokens by their importance weights."""

import math

import pytest
import torch
from two_actions import DILEMMA, OPTIMIZER, shaken, step

from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.algorithms.grpo import GRPORecipe
from stratagem.base.consent.table import allow
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.collector import merge
from stratagem.training.online import policy_of
from stratagem.training.opponents.pool import OpponentPool
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

OWN = """
import torch
from dataclasses import dataclass
from stratagem.language.models.decoding_settings import Sampler


@dataclass(frozen=True)
class Evenly(Sampler):
    def behaviour_logprobs(self, policy_logprobs):
        possible = policy_logprobs > -torch.inf
        return torch.where(possible, -possible.sum(-1, keepdim=True).log(), -torch.inf)
"""
GRPO = {"groups_per_batch": 4, "group_size": 8, "loss": {"entropy_coef": 0.0}, "optimizer": OPTIMIZER}
SETTINGS = {
    "grpo": GRPO,
    "reinforce": {"episodes_per_batch": 64, "advantage": "group_mean", "optimizer": OPTIMIZER},
}


@pytest.mark.parametrize("algorithm", SETTINGS)
@pytest.mark.parametrize("optimizer_steps", [1, 2])
def test_one_step_raises_the_better_action(tmp_path, algorithm, optimizer_steps):
    own = {**SETTINGS[algorithm], "optimizer_steps": optimizer_steps}
    data = {
        "algorithm": algorithm,
        "games": [DILEMMA],
        "temperature": 1.0,
        "sampler": "epsilon_uniform(epsilon=0.5)",
        algorithm: own,
    }
    recipe = algorithm_of(data).recipe_type.read(data)
    made = bound(recipe, RunFolder.create(tmp_path / "run", recipe, 0, "a test"))
    assert step(recipe, lambda agent, game: made.collector(game, agent, Key(3)))[2] > 1e-4


def collect(sampler):
    """The policy, and the examples of an iteration of GRPO in the dilemma."""
    recipe = GRPORecipe.read({"games": [DILEMMA], "temperature": 0.7, "sampler": sampler, "grpo": GRPO})
    trained, game = policy_of(recipe, load("tiny")), make_game(DILEMMA)
    opponents = OpponentPool(recipe.grpo, game, trained.player)
    collector = BranchedRollouts(recipe.grpo, game, trained.player, Key(0), opponents)
    return trained, merge([collector.collect(0)]).examples


def test_the_recorded_logprobs_are_those_of_the_mixture_by_hand():
    trained, examples = collect({"type": "epsilon_uniform", "epsilon": 0.4})
    policy = trained.learner.outputs(examples).logprobs
    drawn = torch.tensor([value for one in examples for value in one.columns["sampler_logprobs"]])
    sizes = torch.tensor([float(len(some)) for one in examples for some in one.allowed])
    assert torch.allclose(drawn.exp(), 0.6 * policy.exp() + 0.4 / sizes, atol=1e-5)
    assert all(one.columns[OLD_LOGPROBS] == one.columns["sampler_logprobs"] for one in examples)


def test_a_sampler_of_a_file_in_a_recipe_draws_by_its_probabilities(tmp_path):
    file = tmp_path / "evenly_sampler.py"
    file.write_text(OWN)
    allow(str(file))
    trained, examples = collect(f"{file}:Evenly")
    drawn = torch.tensor([value for one in examples for value in one.columns["sampler_logprobs"]])
    sizes = torch.tensor([float(len(some)) for one in examples for some in one.allowed])
    assert torch.allclose(drawn.exp(), 1.0 / sizes)
    assert (trained.learner.outputs(examples).logprobs - drawn).abs().max() > 1e-3


def weights_after(settings, columns):
    """The weights after a step of gradient descent on two tokens, one example each, with columns of their chances."""
    trained = policy_of(GRPORecipe.read({"grpo": settings}), load("tiny"))
    learner, tokens = trained.learner, (40, 41)
    shaken(trained)
    examples = [
        Example(tokens=(5, 9, 70, token), loss_positions=(3,), allowed=(tokens,), columns={"advantage": (1.0,)})
        for token in tokens
    ]
    chances = learner.outputs(examples).logprobs.exp().tolist()
    learner.update(
        [
            one.with_columns(**columns(chance, number))
            for number, (one, chance) in enumerate(zip(examples, chances, strict=True))
        ]
    )
    return torch.cat([weight.detach().flatten() for weight in learner.optimizer.weights])


def test_the_expected_step_on_a_samplers_tokens_is_that_of_the_policy():
    """Both actions by their chances: `sum mu (pi / mu) A grad log pi = sum pi A grad log pi`."""
    loss = {"clip_range_low": 1.0, "clip_range_high": 9.0, "kl_estimator": "none", "kl_coef": 0.0, "entropy_coef": 0.0}
    settings = {**GRPO, "loss": loss, "optimizer": {"method": "sgd", "learning_rate": 1e-2, "max_grad_norm": 1e9}}
    payoffs, drawn = (1.0, 3.0), (0.8, 0.2)

    def of_policy(chance, number):
        return {"advantage": (2.0 * chance * payoffs[number],)}

    def of_sampler(chance, number):
        return {"advantage": (2.0 * drawn[number] * payoffs[number],), OLD_LOGPROBS: (math.log(drawn[number]),)}

    def without_weights(chance, number):
        return {"advantage": (2.0 * drawn[number] * payoffs[number],)}

    expected, found, other = (weights_after(settings, some) for some in (of_policy, of_sampler, without_weights))
    assert torch.allclose(found, expected, atol=1e-6)
    assert (other - expected).abs().max() > 1e-4
