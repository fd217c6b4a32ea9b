"""One step of REINFORCE in self-play: the policy moves as its payoffs say, and each seat has a baseline of its own."""

import json

import pytest
from two_actions import DILEMMA, FLAT, OPTIMIZER, defects, step

from stratagem.algorithms.grpo import GRPORecipe
from stratagem.algorithms.reinforce import REINFORCERecipe, SelfPlayCollector
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.learn.advantages.role_baseline import RoleBaseline
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.online import policy_of
from stratagem.training.opponents.pool import OpponentPool
from stratagem.training.rollouts import sampled_call

pytestmark = pytest.mark.runs

KUHN = "kuhn(hands=1)"
COORDINATION = FLAT.replace("[(2, 2), (2, 2)], [(2, 2), (2, 2)]", "[(3, 3), (0, 0)], [(0, 0), (0, 0)]")
"""Only to COOPERATE together pays."""
USUAL = {"episodes_per_batch": 64, "optimizer": OPTIMIZER}


def collector(game, **settings):
    recipe = REINFORCERecipe.read({"games": [game], "temperature": 1.0, "reinforce": {**USUAL, **settings}})
    return recipe, lambda policy, made: SelfPlayCollector(recipe.reinforce, made, policy, Key(3))


def moved(game, shake=False, **settings):
    """Measure the change of the probability of DEFECT over an iteration."""
    return step(*collector(game, **settings), shake)[2]


def self_play(game, **settings):
    recipe, make = collector(game, **settings)
    return make(policy_of(recipe, load("tiny")).player, make_game(game))


@pytest.mark.parametrize("advantage", ["role_baseline", "group_mean", "rloo", "advantage_alignment"])
def test_payoff_raises_the_action_that_pays(advantage):
    assert moved(DILEMMA, advantage=advantage) > 1e-4
    assert moved(COORDINATION, advantage=advantage) < -1e-4


GIFTS = "matrix(payoffs=[[(1, 1), (0, 1)], [(1, 0), (0, 0)]], labels=(COOPERATE, DEFECT), rounds=2, cooperative=True)"
"""COOPERATE is a gift to the other seat, and nobody's own payoff depends on the own action."""


def gift_steps(episodes):
    """The exact steps of a gift's logit in the second round, after a gift of the other seat and after none."""
    steps = {}
    for before in ("COOPERATE", "DEFECT"):
        rows = [
            row
            for episode in episodes
            if episode.purpose == "train"
            for row in episode.decisions
            if row.round == 1 and episode.decisions[1 - row.seat].action == before
        ]
        gifts = [row.action == "COOPERATE" for row in rows]
        share = sum(gifts) / len(gifts)
        assert 0.1 < share < 0.9, "both actions were taken"
        steps[before] = sum(row.advantage * (gift - share) for row, gift in zip(rows, gifts, strict=True)) / len(rows)
    return steps


@pytest.mark.parametrize("stage", ["reinforce", "grpo"])
def test_alignment_raises_a_gift_after_a_gift_and_lowers_it_after_none(stage):
    advantage = {"type": "advantage_alignment", "alignment_weight": 1.0, "discount": 1.0}
    if stage == "reinforce":
        found = self_play(GIFTS, episodes_per_batch=128, advantage=advantage).collect(0)
    else:
        settings = {"groups_per_batch": 2, "group_size": 64, "advantage": advantage, "optimizer": OPTIMIZER}
        recipe, game = GRPORecipe.read({"temperature": 1.0, "grpo": settings}), make_game(GIFTS)
        policy = policy_of(recipe, load("tiny")).player
        opponents = OpponentPool(recipe.grpo, game, policy)
        found = BranchedRollouts(recipe.grpo, game, policy, Key(3), opponents).collect(0)
    steps = gift_steps(found.episodes)
    assert steps["COOPERATE"] > 0.02
    assert steps["DEFECT"] < -0.02


def test_payoff_raises_the_action_that_pays_in_two_steps():
    assert moved(DILEMMA, optimizer_steps=2) > 1e-4


def test_equal_rewards_have_no_gradient():
    """Against the mean of the batch; a moving average first has to learn what is usual."""
    assert moved(FLAT, advantage="group_mean") == 0.0


def test_the_penalty_leads_back_to_the_reference():
    recipe, _ = collector(FLAT)
    home = defects(policy_of(recipe, load("tiny")).player, make_game(FLAT))
    penalty = {"kl_estimator": "k3", "kl_coef": 1.0}
    _, before, change = step(*collector(FLAT, loss=penalty, advantage="group_mean"), shake=True)
    assert (home - before) * change > 0.0


def test_the_bonus_for_entropy_evens_the_actions_out():
    _, before, change = step(*collector(FLAT, loss={"entropy_coef": 1.0}, advantage="group_mean"))
    assert (0.5 - before) * change > 0.0


def test_an_episode_is_compared_with_the_moving_average_of_its_seat():
    """`R - b`, worked out again from the payoffs; the baselines outlive the iteration."""
    play, baselines = self_play(KUHN, episodes_per_batch=6), {0: 0.0, 1: 0.0}
    for iteration in range(2):
        found, expected = play.collect(iteration), {}
        for number, episode in enumerate(found.episodes):
            for seat in (0, 1):
                expected[number, seat] = episode.payoffs[seat] - baselines[seat]
                baselines[seat] += 0.05 * (episode.payoffs[seat] - baselines[seat])
        rows = [(n, row) for n, episode in enumerate(found.episodes) for row in episode.decisions]
        wanted = [expected[number, row.seat] for number, row in rows if sampled_call(row)]
        assert [one.columns["advantage"][0] for one in found.examples] == pytest.approx(wanted)
    assert list(play.baselines.values()) == pytest.approx([baselines[0], baselines[1]])
    assert baselines[0] != baselines[1]


def test_the_baselines_are_in_a_checkpoint():
    play, other = self_play(KUHN, episodes_per_batch=6), self_play(KUHN, episodes_per_batch=6)
    play.collect(0)
    other.restore(json.loads(json.dumps(play.state())))
    assert [one.columns for one in other.collect(1).examples] == [one.columns for one in play.collect(1).examples]


def test_every_episode_has_a_start_of_its_own():
    episodes = self_play(KUHN, episodes_per_batch=12).collect(0).episodes
    assert len({episode.chance for episode in episodes}) == 12
    assert len({episode.decisions[0].state_key for episode in episodes}) == 3  # the cards of who opens


def test_the_return_of_a_board_game_is_that_of_its_end():
    play = self_play("tic-tac-toe", episodes_per_batch=4, advantage={"type": "role_baseline", "ema_decay": 1.0})
    found = play.collect(0)
    wanted = [episode.payoffs[row.seat] for episode in found.episodes for row in episode.decisions if sampled_call(row)]
    assert any(wanted)
    assert [one.columns["advantage"][0] for one in found.examples] == wanted
    returns = [found.metrics[f"tic-tac-toe/return/{seat}"] for seat in (0, 1)]
    assert returns == [sum(episode.payoffs[seat] for episode in found.episodes) / 4 for seat in (0, 1)]


def test_the_defaults_are_those_of_the_paper():
    settings = REINFORCERecipe().reinforce
    assert settings.advantage.value == RoleBaseline(ema_decay=0.95)
    assert settings.loss.value == PolicyGradient(normalize_by="divisor")
    assert settings.optimizer_steps == 1
