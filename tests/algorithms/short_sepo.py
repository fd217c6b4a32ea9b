"""A run of SEPO that takes seconds, which tests change, break off and resume."""

from stratagem.algorithms.sepo.recipe import SEPORecipe

RECIPE = SEPORecipe.read(
    {
        "games": ["kuhn(hands=2)"],
        "evaluate_every": 1,
        "validation_episodes": 2,
        "test_episodes": 2,
        "checkpoint_metric": "exploitability",
        "sft": {"num_examples": 120, "epochs": 1, "batch_size": 32, "optimizer": {"learning_rate": 1e-3}},
        "sepo": {
            "iterations": 4,
            "group_size": 4,
            "groups_per_batch": 1,
            "signal_every": 2,
            "optimizer": {"learning_rate": 1e-3},
        },
    }
)
