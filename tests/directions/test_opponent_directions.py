"""The policy moves towards what pays against the opponents that its matchmaker draws, in every online algorithm."""

import pytest
from two_actions import OPTIMIZER, step

from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.games.key import Key
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

COORDINATION = (
    "matrix(payoffs=[[(2, 2), (0, 0)], [(0, 0), (2, 2)]], labels=(COOPERATE, DEFECT), rounds=1, cooperative=True)"
)
"""Here it pays to do what the other does."""
FORKED = {"groups_per_batch": 4, "group_size": 8, "loss": {"entropy_coef": 0.0}, "optimizer": OPTIMIZER}
SETTINGS = {
    "grpo": FORKED,
    "reinforce": {"episodes_per_batch": 64, "advantage": "group_mean", "optimizer": OPTIMIZER},
    "sepo": {
        "groups_per_batch": 4,
        "group_size": 8,
        "penalty_credit": "none",
        "externality_weight": 0.0,
        "loss": {"kl_estimator": "none", "kl_coef": 0.0},
        "optimizer": OPTIMIZER,
    },
}
KIND, UNKIND = {"AlwaysCooperate": 1.0}, {"AlwaysDefect": 1.0}
PHASES = {"type": "curriculum", "phases": [[0, KIND], [1, UNKIND]]}
BLENDED = {"type": "curriculum", "phases": [[0, KIND], [10, UNKIND]], "blend": True}


class Later:
    """Collector whose first iteration is a later one."""

    def __init__(self, collector, iteration):
        self.collector = collector
        self.iteration = iteration

    def collect(self, iteration):
        """Play that iteration."""
        return self.collector.collect(self.iteration + iteration)


def moved(tmp_path, algorithm, matchmaker, iteration=0, **settings):
    """Measure the change of the probability of DEFECT over an iteration."""
    own = {**SETTINGS[algorithm], "matchmaker": matchmaker, **settings}
    data = {"algorithm": algorithm, "games": [COORDINATION], "temperature": 1.0, algorithm: own}
    recipe = algorithm_of(data).recipe_type.read(data)
    made = bound(recipe, RunFolder.create(tmp_path / "run", recipe, 0, "a test"))
    return step(recipe, lambda agent, game: Later(made.collector(game, agent, Key(3)), iteration))[2]


@pytest.mark.parametrize("algorithm", SETTINGS)
@pytest.mark.parametrize(("opponent", "sign"), [("AlwaysCooperate", -1.0), ("AlwaysDefect", 1.0)])
def test_policy_moves_towards_what_pays_against_its_opponent(tmp_path, algorithm, opponent, sign):
    assert sign * moved(tmp_path, algorithm, f"fixed(opponent={opponent})") > 1e-4


@pytest.mark.parametrize("algorithm", SETTINGS)
@pytest.mark.parametrize("matchmaker", [PHASES, BLENDED], ids=["phases", "blended"])
@pytest.mark.parametrize(("iteration", "sign"), [(0, -1.0), (10, 1.0)])
def test_curriculum_moves_the_policy_as_the_phase_of_the_iteration_says(
    tmp_path, algorithm, matchmaker, iteration, sign
):
    assert sign * moved(tmp_path, algorithm, matchmaker, iteration) > 1e-4


def test_pfsp_moves_the_policy_to_what_pays_against_whom_it_does_not_beat(tmp_path):
    """Nobody can be beaten in this game, so all are drawn alike, and one opponent alone is the one that is named."""
    settings = {"opponents": UNKIND}
    assert moved(tmp_path, "grpo", "pfsp", **settings) > 1e-4
