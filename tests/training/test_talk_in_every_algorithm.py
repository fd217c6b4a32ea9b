"""Every online algorithm trains in a game with talk, and its messages are in the loss."""

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import ALGORITHMS, algorithm_of, bound
from stratagem.playing.store import read_episodes
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

OFFLINE = {"kl_sft"}
"""Algorithms that play no episode in training."""
TALK = "talk(kuhn(hands=1), before=round, intents=[state])"
GAMES = {
    "scopal": {"games": [TALK], "style": "plain"},
    "shapellm": {
        "game": "talk(ipd-shapellm(labels=(C, D), rounds=2), intents=[move])",
        "seats": {
            name: {
                "learner": name,
                "style": "plain",
                "memory": "episode",
                "mode": "direct",
                "optimizer": {"learning_rate": 1e-3},
            }
            for name in ("shaper", "naive")
        },
    },
}


MOVES = {"PASS", "BET", "C", "D"}
STORING = {"grpo", "league", "reinforce", "sepo"}
"""Algorithms that record the advantage of a decision, which only decisions with tokens in the loss have."""


@pytest.mark.runs
@pytest.mark.parametrize("name", sorted(set(ALGORITHMS.names()) - OFFLINE))
def test_an_online_algorithm_trains_with_talk(name, tmp_path):
    recipe = algorithm_of({"algorithm": name}).recipe_type
    settings = recipe.read({"algorithm": name, **RECIPES[name], **GAMES.get(name, {"games": [TALK]})})
    run = RunFolder.create(tmp_path / "run", settings, settings.seed, "a test")
    bound(settings, run).train(lambda step, steps, metrics: None)
    assert any(metric.endswith("loss") for metric in read_metrics(run))
    asked = [one for episode in read_episodes(run.record) for one in episode.decisions if one.calls]
    messages = [one for one in asked if one.action not in MOVES]
    assert messages
    if name in STORING:
        assert any(one.advantage is not None for one in messages)
