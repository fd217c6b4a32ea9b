"""One step of GRPO on branches of a dilemma of one round: each term and each setting moves the policy as it should."""

from itertools import product

import pytest
from two_actions import DILEMMA, FLAT, OPTIMIZER, defects, step

from stratagem.algorithms.grpo import GRPORecipe
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.online import policy_of
from stratagem.training.opponents.pool import OpponentPool

pytestmark = pytest.mark.runs

ADVANTAGES = ("group_mean", "per_round")
OPPONENTS = {"itself": {"self": 1.0}, "a defector": {"AlwaysDefect": 1.0}, "a cooperator": {"AlwaysCooperate": 1.0}}
USUAL = {
    "groups_per_batch": 4,
    "group_size": 8,
    "loss": {"entropy_coef": 0.0},
    "optimizer": OPTIMIZER,
    "opponents": {"AlwaysCooperate": 1.0},
}


def grpo(game=DILEMMA, shake=False, **settings):
    recipe = GRPORecipe.read({"games": [game], "temperature": 1.0, "grpo": {**USUAL, **settings}})

    def collector(agent, made):
        return BranchedRollouts(recipe.grpo, made, agent, Key(3), OpponentPool(recipe.grpo, made, agent))

    return step(recipe, collector, shake)


@pytest.mark.parametrize(("advantage", "scale"), [*product(ADVANTAGES, [True, False])])
@pytest.mark.parametrize("whom", OPPONENTS)
def test_payoff_raises_the_action_that_pays(advantage, scale, whom):
    assert grpo(advantage={"type": advantage, "normalize_std": scale}, opponents=OPPONENTS[whom])[2] > 1e-4


@pytest.mark.parametrize("advantage", ADVANTAGES)
@pytest.mark.parametrize("signal", ["externality", "collusion"])
def test_a_signal_with_a_negative_weight_lowers_the_action_that_it_speaks_of(signal, advantage):
    assert grpo(advantage=advantage, reward_weights={"payoff": 1.0, signal: -100.0})[2] < -1e-4


@pytest.mark.parametrize(
    "settings",
    [{"chance_seeds": "shared"}, {"optimizer_steps": 2}, {"advantage_clip": 0.5}],
    ids=str,
)
def test_payoff_raises_the_action_that_pays_under_every_setting(settings):
    assert grpo(opponents={"random": 1.0} if "chance_seeds" in settings else USUAL["opponents"], **settings)[2] > 1e-4


LONG = "matrix(payoffs=[[(3, 3), (0, 4)], [(4, 0), (1, 1)]], labels=(COOPERATE, DEFECT), rounds=6, cooperative=True)"


@pytest.mark.parametrize("advantage", ADVANTAGES)
def test_a_round_is_credited_with_what_comes_later(advantage):
    """Over six rounds, defection in the first is never forgiven."""
    assert grpo(LONG, advantage=advantage, group_size=32, opponents={"GrimTrigger": 1.0})[2] < -1e-4


def test_the_penalty_leads_back_to_the_reference():
    recipe = GRPORecipe.read({"games": [FLAT], "temperature": 1.0})
    home = defects(policy_of(recipe, load("tiny")).player, make_game(FLAT))
    _, before, moved = grpo(FLAT, loss={"kl_estimator": "k3", "kl_coef": 1.0, "entropy_coef": 0.0}, shake=True)
    assert (home - before) * moved > 0.0
    assert grpo(FLAT, shake=True)[2] == 0.0


def test_the_bonus_for_entropy_evens_the_actions_out():
    _, before, moved = grpo(FLAT, loss={"entropy_coef": 1.0})
    assert (0.5 - before) * moved > 0.0


def test_updates_deal_out_the_examples_of_an_iteration():
    """Each is learnt from once, in one of the steps."""
    recipe = GRPORecipe.read({"games": [DILEMMA], "grpo": {**USUAL, "optimizer_steps": 3, "groups_per_batch": 1}})
    trained, game = policy_of(recipe, load("tiny")), make_game(DILEMMA)
    opponents = OpponentPool(recipe.grpo, game, trained.player)
    examples = BranchedRollouts(recipe.grpo, game, trained.player, Key(3), opponents).collect(0).examples
    numbered = [one.with_columns(number=(float(number),)) for number, one in enumerate(examples)]
    reports = trained.update_weights(numbered)
    assert [len(report.examples) for report in reports] == [3, 3, 2]
    assert sorted(one.columns["number"][0] for report in reports for one in report.examples) == list(range(8))
