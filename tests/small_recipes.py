"""A recipe of every algorithm that is trained in a second or two."""

RATE = {"learning_rate": 1e-3}
GAME = {
    "games": ["kuhn(hands=1)"],
    "temperature": 1.0,
    "evaluate_every": 1,
    "validation_episodes": 1,
    "test_episodes": 1,
}
FORKED = {"groups_per_batch": 2, "group_size": 2, "optimizer_steps": 1, "optimizer": RATE}
LEARNT = {"epochs": 1, "batch_size": 16, "optimizer": RATE}
RECIPES = {
    "sepo": {
        **GAME,
        "sft": {"num_examples": 40, "epochs": 1, "batch_size": 16, "optimizer": RATE},
        "sepo": {"iterations": 2, "group_size": 2, "groups_per_batch": 1, "optimizer": RATE},
    },
    "grpo": {**GAME, "opponents": ["random"], "grpo": {"iterations": 3, "prefix_turns": [0, 1], **FORKED}},
    "reinforce": {
        **GAME,
        "opponents": ["random"],
        "reinforce": {"iterations": 3, "episodes_per_batch": 4, "optimizer": RATE},
    },
    "league": {
        **GAME,
        "opponents": ["random"],
        "evaluate_every": 2,
        "learners": {"main": {"role": "main"}, "exploiter": {"role": "main_exploiter"}},
        "league": {"iterations": 3, "snapshot_every": 1, "crossplay_games": 1, **FORKED},
    },
    "scopal": {
        "games": ["kuhn(hands=1)"],
        "style": "brief",
        "interaction": {"episodes": 16, "episodes_per_step": 8},
        "samples": {"max_samples": 16},
        "final_evaluation": {"episodes": 2, "opponents": ["random"]},
        "checkpoint_every": 1,
        "bc": LEARNT,
        "kto": LEARNT,
    },
    "shapellm": {
        "game": "ipd-shapellm(labels=(C, D), rounds=2)",
        "trials": 3,
        "environments": 2,
        "episodes": 2,
        "checkpoint_every": 1,
        "record_every": 1,
        "final_evaluation": {"episodes": 2, "rounds": [2, 3]},
        "seats": {"shaper": {"learner": "shaper", "optimizer": RATE}, "naive": {"learner": "naive", "optimizer": RATE}},
    },
    "kl_sft": {
        "target_policies": [{"policy": "ipd-cooperative", "seat": 0}],
        "kl_sft": {"num_examples": 10, "epochs": 8, "batch_size": 5, "optimizer": RATE},
    },
}
