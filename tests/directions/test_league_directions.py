"""One iteration of a league: each learner's own adapter moves towards what pays against whom it met."""

import pytest
from two_actions import DILEMMA, OPTIMIZER, defects

from stages import play_round
from stratagem.algorithms.catalogue import ALGORITHMS
from stratagem.algorithms.league.algorithm import Round
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.state import LeagueState
from stratagem.games.catalogue import make_game
from stratagem.language.models.load import load
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

COORDINATION = (
    "matrix(payoffs=[[(2, 2), (0, 0)], [(0, 0), (2, 2)]], labels=(COOPERATE, DEFECT), rounds=1, cooperative=True)"
)
"""Here it pays to do what the other does."""
USUAL = {"groups_per_batch": 4, "group_size": 8, "loss": {"entropy_coef": 0.0}, "optimizer": OPTIMIZER}


@pytest.fixture
def moved(tmp_path):
    """Measure the change of each learner's probability of DEFECT over an iteration."""

    def play(game, learners, **league):
        recipe = LeagueRecipe.read(
            {
                "games": [game],
                "opponents": ["random"],
                "temperature": 1.0,
                "members": {"kind": "AlwaysCooperate", "unkind": "AlwaysDefect"},
                "learners": learners,
                "league": {**USUAL, **league},
            }
        )
        state = LeagueState(
            recipe, RunFolder.create(tmp_path / "run", recipe, 0, "a test"), {recipe.learner_bases[0]: load("tiny")}
        )
        made = make_game(game)
        before = {name: defects(one.player, made) for name, one in state.learners.items()}
        play_round(Round(recipe, state, state.member_players(made), made), 0)
        return state, {name: defects(one.player, made) - before[name] for name, one in state.learners.items()}

    return play


def fixed(opponent):
    return {"matchmaker": {"rule": "fixed", "opponent": opponent}}


def test_each_learner_moves_towards_what_pays_against_its_own_opponent(moved):
    _, found = moved(COORDINATION, {"one": fixed("kind"), "two": fixed("unkind")})
    assert found["one"] < -1e-4
    assert found["two"] > 1e-4


@pytest.mark.parametrize("rule", ["self", "pfsp", "role"])
def test_payoff_raises_the_action_that_pays_under_every_rule(moved, rule):
    _, found = moved(DILEMMA, {"main": {"matchmaker": {"rule": rule}}})
    assert found["main"] > 1e-4


def test_results_are_booked_for_whoever_was_paid_more(moved):
    """Against a cooperator nobody can do worse than it, and against a defector nobody better."""
    state, _ = moved(DILEMMA, {"one": fixed("kind"), "two": fixed("unkind")})
    assert state.results.rate("one", "kind") > 0.5 > state.results.rate("two", "unkind")
    assert state.results.rate("kind", "one") < 0.5 < state.results.rate("unkind", "two")


def test_every_algorithm_has_direction_tests():
    """A new one needs a file here: all have their own but kl_sft, which is supervised."""
    assert set(ALGORITHMS.names()) == {"sepo", "grpo", "reinforce", "league", "scopal", "shapellm", "kl_sft"}
