"""The worst opponent of a stated policy, played: what it gains is what the exact figures say, and nobody gains more."""

import json
import math

import pytest

from stratagem.algorithms.sepo.algorithm import SEPOCollector
from stratagem.algorithms.sepo.recipe import SEPORecipe, SEPOSettings
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.best_response import best_response
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.exploitability.best_responder import best_responder, mean_kl
from stratagem.measure.exploitability.exact import exact
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player


def advantage(game, agent, other):
    """Return the other's payoff less the agent's in an episode, averaged over the seats."""
    total = 0.0
    for seat in (0, 1):
        seated = [agent, other] if seat == 0 else [other, agent]
        sums = expected_payoffs(game, seated).sums
        total += sums.get(("payoff", 1 - seat), 0.0) - sums.get(("payoff", seat), 0.0)
    return total / 2


@pytest.mark.parametrize("name", ["TitForTat", "AlwaysCooperate", "GrimTrigger", "Random", "Joss"])
def test_best_responder_has_the_largest_advantage_in_an_open_game(name):
    game = make_game("ipd(rounds=4)")
    agent = make_player(name, game)
    responder = best_responder(game, agent)
    found = [best_response(game, agent, seat).advantage for seat in (0, 1)]
    assert advantage(game, agent, responder) == pytest.approx(sum(found) / 2)
    for other in ("AlwaysDefect", "AlternateDefect", "TitForTat", "Random"):
        assert advantage(game, agent, make_player(other, game)) <= advantage(game, agent, responder) + 1e-9


def test_tit_for_tat_loses_one_round_and_always_cooperate_all_of_them():
    game = make_game("ipd(rounds=4)")
    losses = {"TitForTat": 5.0, "AlwaysCooperate": 20.0, "AlwaysDefect": 0.0}
    for name, loss in losses.items():
        agent = make_player(name, game)
        assert advantage(game, agent, best_responder(game, agent)) == pytest.approx(loss)


@pytest.mark.parametrize("name", ["NashApprox", "TightPassive", "random"])
def test_in_kuhn_it_is_openspiels_best_response(name):
    game = make_game("kuhn(hands=1)")
    agent = make_player(name, game)
    assert advantage(game, agent, best_responder(game, agent)) == pytest.approx(exact(game, agent).worst_advantage)


def test_situations_are_counted():
    game = make_game("ipd(rounds=6)")
    with pytest.raises(CannotCompute, match="too large"):
        best_responder(game, make_player("Random", game), budget=100)


@pytest.mark.parametrize("name", ["Truthful", "random"])
def test_in_a_hidden_game_without_openspiel_it_is_the_best_response_on_the_tree(name):
    game = make_game("auction(rounds=1)")
    agent = make_player(name, game)
    assert advantage(game, agent, best_responder(game, agent)) == pytest.approx(exact(game, agent).worst_advantage)


def test_divergence_of_stated_policies_is_the_mean_over_information_sets():
    policy, other = {"a": {"x": 0.5, "y": 0.5}, "b": {"x": 1.0}}, {"a": {"x": 0.25, "y": 0.75}, "b": {"x": 1.0}}
    expected_kl = 0.5 * (0.5 * math.log(2.0) + 0.5 * math.log(2.0 / 3.0))
    assert mean_kl(policy, other) == pytest.approx(expected_kl)
    assert mean_kl(other, policy) != pytest.approx(expected_kl)
    assert mean_kl({"a": {"x": 0.4, "y": 0.4}}, {"a": {"x": 0.1, "y": 0.1}}) == 0.0
    assert mean_kl({"a": {"x": 1.0}}, {"a": {"y": 1.0}}) == math.inf
    assert mean_kl({}, {}) == 0.0


class Drifting:
    """Player of one probability of C, which a test sets."""

    name, traits = "drifting", Traits(stochastic=True)

    def __init__(self):
        self.share = 0.5

    def turn(self, ask):
        return Move(ask.view.choices.sample(ask.key))

    def policy(self, view):
        return dict(zip(view.choices, (self.share, 1.0 - self.share), strict=True))


def drifted(shares, *, every=100, resume=None):
    """The iterations at which the best response was computed, with the policy's shares in each."""
    settings = SEPOSettings.read(
        {"penalty_source": "best_response", "best_response_every": every, "best_response_kl": 0.05, "group_size": 2}
    )
    game, agent = make_game("ipd(rounds=1)"), Drifting()
    collector, computed = SEPOCollector(settings, game, agent, Key(0)), []
    for iteration, share in enumerate(shares):
        if iteration == resume:
            state = json.loads(json.dumps(collector.state()))
            collector = SEPOCollector(settings, game, agent, Key(0))
            collector.restore(state)
        before, agent.share = collector.opponents.responder, share
        collector.opponents.exploiters(iteration)
        if collector.opponents.responder is not before:
            computed.append(iteration)
    return computed


@pytest.mark.parametrize("resume", [None, 1, 3, 5])
def test_best_response_is_computed_when_the_policy_has_moved_and_after_a_resume(resume):
    """KL in nats: .6 to .5 .020, .7 to .5 .082, .8 to .7 .026, .9 to .7 .116, .9 to .8 .037."""
    assert drifted([0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9], resume=resume) == [0, 2, 4]
    assert drifted([0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9], every=3, resume=resume) == [0, 2, 3, 6]


def test_with_three_seats_one_seat_responds_and_the_policy_has_the_others():
    """Keeping what all others contribute gains 1 - 2/3 a round, at every seat."""
    settings = SEPOSettings.read({"penalty_source": "best_response", "group_size": 2, "groups_per_batch": 2})
    game = make_game("public-goods(rounds=1)")
    collector = SEPOCollector(settings, game, make_player("first-legal", game), Key(0))
    batch = collector.collect(0)
    probes = [episode for episode in batch.episodes if "/exploit/" in episode.id]
    assert batch.metrics["public-goods/best_response_gain"] == pytest.approx(1 / 3)
    assert batch.metrics["public-goods/probe/exploit/best-response"] == pytest.approx((1.0 - 4 / 3) * 3 / 2)
    assert [episode.slots for episode in probes] == [(1, 0, 2)] * 2 + [(1, 2, 0)] * 2
    assert all(episode.payoffs[0] == pytest.approx(1 + 4 / 3) for episode in probes)
    assert json.loads(json.dumps(collector.state()))["worst_seat"] == 0


@pytest.mark.parametrize("resume", [False, True])
def test_seat_of_the_best_response_is_the_one_that_gains_most(resume):
    """Against random play the last of three in Kuhn poker gains most: .55, .69 and .82 a hand (OpenSpiel)."""
    settings = {"penalty_source": "best_response", "best_response_every": 9, "group_size": 2, "groups_per_batch": 2}
    game = make_game("spiel:kuhn_poker(players=3)")

    def collector():
        return SEPOCollector(SEPOSettings.read(settings), game, make_player("random", game), Key(0))

    first, second = collector(), collector()
    batch = first.collect(0)
    if resume:
        second.restore(json.loads(json.dumps(first.state())))
    probes = (second if resume else first).collect(1).episodes + batch.episodes
    assert {episode.slots[2] for episode in probes if "/exploit/" in episode.id} == {1}


def test_threshold_without_a_best_response_is_refused():
    with pytest.raises(BadParameter, match="the pool never changes"):
        SEPORecipe.read({"sepo": {"best_response_kl": 0.1}})
