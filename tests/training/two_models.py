"""Small recipes in which two learners train two models, and what tests do with their runs."""

import hashlib

from stratagem.algorithms.catalogue import ALGORITHMS
from stratagem.training.runs.folder import RunFolder

RATE = {"learning_rate": 3e-3}
GAME = {
    "games": ["kuhn(hands=1)"],
    "opponents": ["random"],
    "temperature": 1.0,
    "validation_episodes": 1,
    "test_episodes": 1,
    "evaluate_every": 2,
    "checkpoint_every": 1,
}
FORKED = {"iterations": 3, "groups_per_batch": 2, "group_size": 4, "optimizer": RATE}
FIRST, SECOND = "tiny", "tiny-qwen"
RECIPES = {
    "grpo": {
        **GAME,
        "sft": {"teacher": "random", "num_examples": 16, "epochs": 1, "batch_size": 16, "optimizer": RATE},
        "grpo": FORKED,
        "policies": {
            "row": {"seats": [0]},
            "column": {"seats": [1], "model": SECOND, "optimizer": {"learning_rate": 1e-3}, "device": "cpu"},
        },
    },
    "shapellm": {
        "game": "ipd-shapellm(labels=(C, D), rounds=2)",
        "trials": 3,
        "environments": 2,
        "episodes": 2,
        "checkpoint_every": 1,
        "record_every": 1,
        "final_evaluation": {"episodes": 2, "rounds": [2]},
        "seats": {
            "row": {"learner": "shaper", "optimizer": RATE},
            "column": {"learner": "naive", "optimizer": RATE, "model": SECOND, "device": "cpu"},
        },
    },
    "league": {
        **GAME,
        "learners": {"row": {}, "column": {"model": SECOND, "device": "cpu", "optimizer": {"learning_rate": 1e-3}}},
        "league": {**FORKED, "snapshot_every": 1, "crossplay_games": 1, "max_loaded_adapters": 1},
    },
}
"""Two learners, `row` and `column`, each on a model of its own."""


def algorithm_at(path, name, **changes):
    """Return the algorithm of a recipe, bound to a run that is made, or that there is."""
    algorithm = ALGORITHMS.factory(name)
    recipe = algorithm.recipe_type.read({**RECIPES[name], **changes})
    run = RunFolder(path) if path.is_dir() else RunFolder.create(path, recipe, recipe.seed, "a test")
    return algorithm(recipe, run)


def policy_of(stage, name):
    """Return the trainable policy of a learner."""
    found = stage.policies[name]
    return getattr(found, "policy", None) if hasattr(found, "proximal") else found


def digest_of(policy):
    """Digest of all weights of a policy's model, those of adapters included."""
    digest = hashlib.blake2b()
    for name, weight in sorted(policy.lm.model.named_parameters()):
        digest.update(name.encode() + weight.detach().float().numpy().tobytes())
    return digest.hexdigest()
