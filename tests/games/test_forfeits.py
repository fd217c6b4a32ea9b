"""Trees in which a seat may give no legal reply: payoffs as the rules pay them, and games that have no such tree."""

import numpy as np
import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games import Key, make_game
from stratagem.games.forfeits import FORFEIT, add_forfeits, can_forfeit
from stratagem.games.tree import TERMINAL
from stratagem.games.tree_cache import tree_of
from stratagem.measure.exploitability.replies import sampled_exploitability
from stratagem.measure.tree_policy import Oracle, oracle_of, policy_on, reply_oracle
from stratagem.players.base import Move, Player, Traits
from stratagem.players.catalogue import make_player

GAMES = ("kuhn-spiel", "spiel:kuhn_poker(players=3)", "spiel:liars_dice(dice_sides=2)")


def failing_policy(tree, rate):
    """Uniform play that gives no legal reply at a rate."""
    rows = [[(1.0 - rate) / (len(s.actions) - 1)] * (len(s.actions) - 1) + [rate] for s in tree.information_sets]
    return np.concatenate(rows)


def played_returns(state, rate):
    """Expected returns of that policy by the rules themselves, over states."""
    if state.over:
        return np.zeros(state.game.spec.seats)
    (seat,) = state.to_act
    total = np.zeros(state.game.spec.seats)
    actions = [*state.view(seat).choices]
    for action, share in [*((one, (1.0 - rate) / len(actions)) for one in actions), (None, rate)]:
        after = state.fork()
        total += share * (np.array(after.play({seat: action}).payoffs) + played_returns(after, rate))
    return total


@pytest.mark.parametrize("text", GAMES)
def test_expected_returns_are_those_of_the_rules(text):
    game = make_game(text)
    plain = tree_of(game)
    tree = add_forfeits(plain)
    rate = 0.3
    seen = tree.expected_returns(failing_policy(tree, rate))[0]
    starts = [(share, state) for share, state in starts_of(game)]
    assert seen == pytest.approx(sum(share * played_returns(state, rate) for share, state in starts))


def starts_of(game):
    """First positions of a game with their chances: its deals have equal ones here."""
    states = {}
    for number in range(400):
        state = game.start(Key(number))
        states.setdefault(str(state.dump()), state)
    return [(1.0 / len(states), state) for state in states.values()]


@pytest.mark.parametrize("text", [*GAMES, "leduc"])
def test_tree_without_a_forfeit_in_play_is_the_tree_as_it_was(text):
    game = make_game(text)
    oracle = oracle_of(game)
    tree = add_forfeits(oracle.tree)
    policy = policy_on(oracle.tree, make_player("random", game))
    with_zeros = np.insert(policy, np.cumsum(oracle.tree.information_sets.sizes), 0.0)
    assert len(tree) == len(oracle.tree) + int((oracle.tree.mover >= 0).sum())
    assert tree.expected_returns(with_zeros)[0] == pytest.approx(oracle.tree.expected_returns(policy)[0])
    for seat in range(game.spec.seats):
        response = Oracle(tree).best_response(with_zeros, seat)
        assert response.value == pytest.approx(oracle.best_response(policy, seat).value)
        assert not any(tree.information_sets[tree.set_of_slot[slot]].actions[-1] is None for slot in response.slots)
    for known, before in zip(tree.information_sets, oracle.tree.information_sets, strict=True):
        assert known.actions == (*before.actions, FORFEIT)
        assert (known.seat, known.turn, known.before) == (before.seat, before.turn, before.before)
    assert tree.information_sets[1].view.info_key == oracle.tree.information_sets[1].view.info_key
    assert tree.digest != oracle.tree.digest


def test_nodes_stand_depth_by_depth_and_siblings_together():
    tree = add_forfeits(tree_of(make_game("kuhn-spiel")))
    for node in range(len(tree)):
        children = tree.children(node)
        assert all(tree.parent[child] == node for child in children)
        assert [int(tree.choice[child]) for child in children] == [*range(len(children))]
        assert (tree.mover[node] == TERMINAL) == (len(children) == 0)
    depth = {0: 0}
    for layer, nodes in enumerate(tree.layers()):
        for node in range(nodes.start, nodes.stop):
            depth[node] = 0 if node == 0 else depth[int(tree.parent[node])] + 1
            assert depth[node] == layer


def test_other_consequences_of_an_illegal_reply_have_no_such_tree():
    games = [make_game(text) for text in ("kuhn(hands=1)", "ipd(rounds=2)", "bargaining", "goofspiel")]
    assert not any(map(can_forfeit, games))
    with pytest.raises(CannotCompute, match=r"is not always lost by an illegal reply\.$"):
        add_forfeits(tree_of(games[0]))


class Failing(Player):
    """Plays at random, and gives no legal reply at a rate, try by try."""

    name, traits = "Failing", Traits(stochastic=True, exact=False)

    def __init__(self, rate):
        self.rate = rate

    def turn(self, ask):
        if ask.key.at("fails").unit() < self.rate:
            return Move(None, "illegal")
        return Move(ask.view.choices.sample(ask.key.at("move")))


def test_player_that_never_replies_loses_two_chips_a_hand():
    found = sampled_exploitability(make_game("kuhn-spiel"), Failing(1.0), Key(1), 10)
    assert found.estimate.mean == pytest.approx(2.0, abs=0.1)
    assert found.basis.num_illegal == found.basis.num_replies


def test_limits_hold_the_exploitability_of_a_player_that_fails_at_times():
    """A retry leaves a sixteenth of the turns without a legal reply where one try in four fails."""
    game = make_game("kuhn-spiel")
    oracle = reply_oracle(game, Failing(0.25))
    policy = failing_policy(oracle.tree, 0.25**2)
    truth = np.mean([oracle.best_response(policy, seat).value for seat in (0, 1)])
    found = sampled_exploitability(game, Failing(0.25), Key(1), 60)
    assert found.estimate.low < truth < found.estimate.high
    assert found.estimate.low > 0.4
    plain = sampled_exploitability(game, make_player("random", game), Key(1), 60)
    assert found.estimate.low > plain.estimate.low
    assert FORFEIT not in {move.action for move in found.moves}
