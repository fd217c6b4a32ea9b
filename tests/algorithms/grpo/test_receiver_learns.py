"""GRPO with `tiny` in the sender-receiver game: a receiver that reads an inverted code learns to believe."""

import json

import pytest

from stratagem.algorithms.grpo import GRPOAlgorithm, GRPORecipe
from stratagem.games import make_game
from stratagem.measure.talk.talk_tree import TalkTree
from stratagem.measure.talk.tree_source import exchange_figures
from stratagem.players.catalogue import make_player
from stratagem.players.tabular import TablePlayer
from stratagem.training.runs.folder import RunFolder

RECIPE = {
    "games": ["sender-receiver"],
    "style": "brief",
    "temperature": 1.0,
    "opponents": ["Honest"],
    "evaluate_every": 60,
    "validation_episodes": 2,
    "test_episodes": 2,
    "sft": {
        "num_examples": 2000,
        "epochs": 6,
        "batch_size": 64,
        "optimizer": {"learning_rate": 3e-3, "schedule": "cosine", "warmup_ratio": 0.05},
        "demonstrators": {"noise(Inverter, p=0.2)": 1.0},
    },
    "grpo": {
        "iterations": 60,
        "groups_per_batch": 12,
        "group_size": 8,
        "prefix_player": "Honest",
        "prefix_turns": [1, 1],
        "opponents": {"Honest": 1.0},
        "loss": {"type": "policy_gradient", "normalize_by": "divisor", "entropy_coef": 0.3},
        "optimizer": {"learning_rate": 1e-3},
    },
}
IGNORING = -35 / 12
"""Return of a receiver that ignores all messages."""


@pytest.mark.long
def test_receiver_learns_to_use_an_honest_sender(tmp_path):
    recipe = GRPORecipe.read(RECIPE)
    run = RunFolder.create(tmp_path / "run", recipe, recipe.seed, "a test")
    GRPOAlgorithm(recipe, run).train()
    first, *_, last = (heard_by(policy) for policy in policies(run))
    assert first.returns[1] < 2 * IGNORING
    assert last.returns[1] > IGNORING + 0.8
    assert last.action_information > 0.3


def policies(run):
    """The stated policies of the validations, in order."""
    return [json.loads(path.read_text())["policy"] for path in sorted((run.path / "policies").iterdir())]


def heard_by(policy):
    """The figures of an honest sender to this receiver."""
    game = make_game("sender-receiver")
    return exchange_figures(TalkTree(game, [make_player("Honest", game), TablePlayer(policy)]), 0)
