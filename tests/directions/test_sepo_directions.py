"""One step of SEPO on a dilemma of one round: each term of its objective moves the policy the way it should.

A penalty is made so dear that it outweighs the payoff. In this game the payoff and the exploitability ask for DEFECT,
collusion and externality for COOPERATE.
"""

import statistics
from itertools import product
from typing import get_args

import pytest
from two_actions import DILEMMA, FLAT, OPTIMIZER, defects, step

from stratagem.algorithms.sepo import opponents as sepo_module
from stratagem.algorithms.sepo.algorithm import SEPOCollector
from stratagem.algorithms.sepo.recipe import SEPORecipe, SEPOSettings
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.training.collector import merge
from stratagem.training.online import policy_of

pytestmark = pytest.mark.runs

DEAR = 1e4
ALONE = {
    "exploitability_weight": 0.0,
    "collusion_weight": 0.0,
    "externality_weight": 0.0,
    "loss": {"kl_estimator": "none", "kl_coef": 0.0},
    "optimizer": OPTIMIZER,
}
UP, DOWN = 1.0, -1.0
WAYS = list(product(["round", "episode"], [True, False]))
"""Units of comparison, and returns or rewards of a round; in one round all are equal."""


def recipe_of(game=DILEMMA, **settings):
    return SEPORecipe.read({"games": [game], "temperature": 1.0, "sepo": {**ALONE, **settings}})


def sepo(game=DILEMMA, key=0, shake=False, **settings):
    recipe = recipe_of(game, **settings)
    return step(recipe, lambda agent, made: SEPOCollector(recipe.sepo, made, agent, Key(key)), shake)


@pytest.mark.parametrize(("unit", "return_to_go"), WAYS)
def test_payoff_raises_the_action_that_pays(unit, return_to_go):
    assert sepo(penalty_credit="none", advantage={"unit": unit, "return_to_go": return_to_go})[2] > 1e-3


@pytest.mark.parametrize("credit", get_args(SEPOSettings.model_fields["penalty_credit"].annotation))
def test_externality_raises_the_action_that_costs_others_less(credit):
    """Whatever the credit of penalties that show in probes: harm shows in the rollouts themselves."""
    assert sepo(penalty_credit=credit, externality_weight=DEAR)[2] < -1e-3


@pytest.mark.parametrize(("unit", "return_to_go"), WAYS)
@pytest.mark.parametrize("source", get_args(SEPOSettings.model_fields["penalty_source"].annotation))
def test_a_probe_is_taught_to_be_less_exploited(source, unit, return_to_go):
    """A defector loses nothing to a defector, a cooperator five points."""
    advantage = {"unit": unit, "return_to_go": return_to_go}
    assert (
        sepo(penalty_credit="probe", exploitability_weight=DEAR, penalty_source=source, advantage=advantage)[2] > 1e-3
    )


TRUST = "matrix(payoffs=[[(3, 3), (0, 0)], [(0, 0), (1, 1)]], labels=(COOPERATE, DEFECT), rounds=1, cooperative=True)"
"""Here it pays to do what the other does."""


def test_a_probe_is_taught_against_what_the_pool_pays():
    """The pool begins with COOPERATE, and adversaries with DEFECT: the dear probe outweighs the pool."""
    assert sepo(TRUST, penalty_credit="none")[2] < -1e-3
    assert sepo(TRUST, penalty_credit="probe", exploitability_weight=DEAR)[2] > 1e-3


def test_a_probe_is_taught_not_to_collude():
    """To defect beside an unconditional cooperator is what the game calls collusion."""
    assert sepo(penalty_credit="probe", collusion_weight=DEAR)[2] < -1e-3


def collects(**settings):
    """A collector of a policy that nobody trains."""
    recipe = recipe_of(**settings)
    return SEPOCollector(recipe.sepo, make_game(DILEMMA), policy_of(recipe, load("tiny")).player, Key(0))


@pytest.mark.parametrize(("source", "number"), [("pool", 2), ("best_response", 1)])
def test_the_adversaries_of_a_pool_share_its_penalty(source, number):
    """The spread of a probe's advantages is the weight, divided by how many adversaries there are."""
    collected = collects(exploitability_weight=6.0, penalty_source=source, groups_per_batch=1, group_size=8).collect(0)
    last = [one.columns["advantage"][0] for one in collected.examples[-8:]]
    assert statistics.stdev(last) == pytest.approx(6.0 / number, rel=1e-3)


def test_a_best_response_is_worked_out_again_when_it_is_due(monkeypatch):
    collector, due, now = (
        collects(exploitability_weight=1.0, penalty_source="best_response", best_response_every=2),
        [],
        0,
    )
    worked_out = sepo_module.best_responder
    monkeypatch.setattr(sepo_module, "best_responder", lambda *told: due.append(now) or worked_out(*told))
    for now in range(5):
        collector.collect(now)
    assert due == [0, 2, 4]


def penalties(episodes, kind):
    """Compute the mean penalty of each probe's i-th episode: 3 less its payoff, or 1 where it defected."""
    each = {}
    for episode in episodes:
        if f"/{kind}/" in episode.id:
            seat = episode.seat_of(0)
            defected = next(row.action for row in episode.decisions if row.seat == seat) == "DEFECT"
            penalty = max(0.0, 3.0 - episode.payoffs[seat]) if kind == "exploit" else float(defected)
            each.setdefault(int(episode.id.rpartition(".")[2]), []).append(penalty)
    return {number: sum(some) / len(some) for number, some in each.items()}


def pull(episodes, kind):
    """Towards DEFECT if it was the rollouts whose probes were penalised less that took it."""
    found = penalties(episodes, kind)
    mean = sum(found.values()) / len(found)
    total = 0.0
    for episode in episodes:
        if "/train/" in episode.id:
            action = next(row.action for row in episode.decisions if row.seat == episode.seat_of(0))
            total += (mean - found[int(episode.id.rpartition(".")[2])]) * (action == "DEFECT")
    return total


@pytest.fixture(scope="module")
def agent():
    return policy_of(recipe_of(), load("tiny")).player


def dice(agent, kind, sign, **settings):
    """The first key under which the penalties are tied to an action, DEFECT's or COOPERATE's."""
    recipe, game = recipe_of(**settings), make_game(DILEMMA)
    for key in range(60):
        pulled = pull(SEPOCollector(recipe.sepo, game, agent, Key(key)).collect(0).episodes, kind)
        if sign * pulled > 1.0:
            return key
    raise AssertionError("no dice tie the penalties to this action")


@pytest.mark.parametrize("sign", [UP, DOWN], ids=["it cooperated", "it defected"])
@pytest.mark.parametrize(("kind", "weight"), [("exploit", "exploitability_weight"), ("collusion", "collusion_weight")])
def test_penalty_lowers_the_probability_of_its_rollout(agent, kind, weight, sign):
    """Under dice that by chance tie the dearer probes to rollouts that did so."""
    settings = {"penalty_credit": "rollout", "groups_per_batch": 1, "group_size": 6, weight: DEAR}
    collected, _, moved = sepo(key=dice(agent, kind, sign, **settings), **settings)
    assert sign * pull(collected.episodes, kind) > 1.0
    assert sign * moved > 1e-3


@pytest.mark.parametrize(("kind", "weight"), [("exploit", "exploitability_weight"), ("collusion", "collusion_weight")])
def test_a_shared_penalty_moves_nothing(kind, weight):
    assert sepo(penalty_credit="shared", **{weight: DEAR})[2] == sepo(penalty_credit="shared")[2]


def lies(player, game):
    """Return the probability that the lower state of two is told as the higher."""
    deal = next(state for key in range(9) if (state := game.start(Key(key))).drawn == 0)
    return dict(player.policy(deal.view(0)))["STATE 1"]


@pytest.mark.parametrize("advantage", ["per_round(normalize_std=False)", "message_effect"])
def test_deception_lowers_the_statements_that_deceive(advantage):
    """Of two states, the lower one told as the higher pays the sender and costs a believer."""
    settings = {"penalty_credit": "none", "groups_per_batch": 8, "group_size": 8, "advantage": advantage}
    text = "sender-receiver(states=2, bias=1)"
    recipe = SEPORecipe.read({
        "games": [text], "temperature": 1.0, "pools": {"train": ["Honest"]},
        "sepo": {**ALONE, **settings, "deception_weight": DEAR},
    })  # fmt: skip
    trained, game = policy_of(recipe, load("tiny")), make_game(text)
    before = lies(trained.player, game)
    collected = SEPOCollector(recipe.sepo, game, trained.player, Key(1), own_pools=recipe.pools_of(game)).collect(0)
    assert 0.1 < collected.metrics["sender-receiver/deception"] < 0.9
    trained.update_weights(merge([collected]).examples)
    assert lies(trained.player, game) < before - 1e-3


def test_every_way_to_credit_a_penalty_has_a_direction_case():
    assert set(get_args(SEPOSettings.model_fields["penalty_credit"].annotation)) == {
        "probe",
        "rollout",
        "shared",
        "none",
    }
    assert set(get_args(SEPOSettings.model_fields["penalty_source"].annotation)) == {"pool", "best_response"}
    weights = SEPOSettings(exploitability_weight=1.0, collusion_weight=1.0, externality_weight=1.0).weights(
        make_game("ipd")
    )
    assert set(weights) == {"exploit", "collusion", "externality", "deception"}


def test_the_penalty_leads_back_to_the_reference():
    """All payoffs are equal, so nothing else moves a policy that has left its base."""
    home = defects(policy_of(recipe_of(FLAT), load("tiny")).player, make_game(FLAT))
    _, before, moved = sepo(FLAT, penalty_credit="none", loss={"kl_coef": 1.0}, shake=True)
    assert abs(home - before) > 1e-3
    assert (home - before) * moved > 0.0
    assert sepo(FLAT, penalty_credit="none", shake=True)[2] == 0.0
