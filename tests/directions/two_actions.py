"""A repeated game of two actions, and how likely a policy takes each before and after one step."""

import torch

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.training.collector import merge
from stratagem.training.online import policy_of

DILEMMA = "ipd(rounds=1)"
"""DEFECT pays more whatever the other does, COOPERATE pays more to both together."""
FLAT = "matrix(payoffs=[[(2, 2), (2, 2)], [(2, 2), (2, 2)]], labels=(COOPERATE, DEFECT), rounds=1, cooperative=True)"
"""All payoffs are equal, so no advantage is left beside what a setting adds."""
OPTIMIZER = {"learning_rate": 1e-4}
"""One step of AdamW then goes along the sign of the gradient, far enough to be seen and near enough to be straight."""
SHAKE = 0.02


def defects(player, game):
    """Compute the probability of the second action at the start."""
    return dict(player.policy(game.start(Key(0)).view(0)))["DEFECT"]


def shaken(trained):
    """The same policy some way from its reference."""
    torch.manual_seed(3)
    with torch.no_grad():
        for weight in trained.learner.optimizer.weights:
            weight += SHAKE * torch.randn_like(weight)
    trained.engine.publish(trained.adapter, 1)
    return trained


def step(recipe, collector, shake=False):
    """Collect and learn one iteration by the code that a run uses.

    What was collected; how likely DEFECT is before, and how much likelier afterwards.
    """
    trained, game = policy_of(recipe, load(recipe.model)), make_game(recipe.games[0])
    if shake:
        shaken(trained)
    before = defects(trained.player, game)
    collected = collector(trained.player, game).collect(0)
    trained.update_weights(merge([collected]).examples)
    return collected, before, defects(trained.player, game) - before
