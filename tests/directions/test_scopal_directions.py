"""One step of each method of SCO-PAL, from played games to the policy: what won becomes likelier.

In a dilemma of one round beside a cooperator, who defects wins and who cooperates ties.
"""

import pytest
from two_actions import DILEMMA, OPTIMIZER, defects

from stratagem.algorithms.catalogue import bound
from stratagem.algorithms.scopal.methods import METHODS
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.games.catalogue import make_game
from stratagem.players.language import language_player
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

STAGE = {"epochs": 1, "batch_size": 1000, "optimizer": OPTIMIZER}
RECIPE = {
    "algorithm": "scopal",
    "games": [DILEMMA],
    "style": "plain",
    "interaction": {"episodes": 24, "opponents": {"AlwaysCooperate": 1.0}, "temperature": 1.0},
    "final_evaluation": {"episodes": 1, "opponents": ["random"], "stages": "last", "temperature": 1.0},
    **dict.fromkeys(METHODS, STAGE),
}
WINS = [name for name in METHODS if name != "imitate"]


def moved(path, method, game=DILEMMA, **changes):
    """Measure the change of the probability of DEFECT over a run of one step."""
    recipe = ScopalRecipe.read({**RECIPE, "games": [game], "refine": [method], **changes})
    run = RunFolder.create(path / "run", recipe, recipe.seed, "a test")
    bound(recipe, run).train()
    models = ("tiny", f"run:{run.path}@last")
    players = (language_player(model, mode="direct", style="plain", temperature=1.0) for model in models)
    before, after = (defects(player, make_game(game)) for player in players)
    return after - before


@pytest.mark.parametrize("method", WINS)
def test_what_won_becomes_likelier(tmp_path, method):
    assert moved(tmp_path, method) > 1e-4


@pytest.mark.parametrize("credit", ["step_win_rate", "beta", "discounted(win_reward=1, tie_reward=0, threshold=0.5)"])
def test_every_step_reward_calls_the_same_action_advantageous(tmp_path, credit):
    assert moved(tmp_path, "kto", reward={"step_reward": credit}) > 1e-4


UNFAIR = "matrix(payoffs=[[(2, 1), (2, 1)], [(2, 1), (2, 1)]], labels=(COOPERATE, DEFECT), rounds=1, cooperative=True)"
"""Seat 0 wins whatever is played; imitation asks for somebody who wins, and for nothing else."""


@pytest.mark.parametrize(("teacher", "sign"), [("AlwaysCooperate", -1.0), ("AlwaysDefect", 1.0)])
def test_imitation_goes_towards_its_teacher(tmp_path, teacher, sign):
    interaction = {"episodes": 8, "teachers": {teacher: 1.0}}
    assert sign * moved(tmp_path, "imitate", UNFAIR, interaction=interaction) > 1e-4
