"""Regrets by information set: their sum, known values of Kuhn poker, and leaks against an equilibrium."""

import numpy as np
import pytest

from stratagem.games.catalogue import make_game
from stratagem.measure.exploitability.exact import of_policy
from stratagem.measure.set_regrets import action_regrets, set_regrets
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.catalogue import make_player


def measured(player, game="kuhn(hands=1)", equilibrium=None):
    made = make_game(game)
    oracle = oracle_of(made)
    rows = [name and policy_on(oracle.tree, make_player(name, made)) for name in (player, equilibrium)]
    return oracle, rows[0], set_regrets(oracle, *rows)


@pytest.mark.parametrize("game", ["kuhn(hands=1)", "ipd(rounds=2)", "kuhn-spiel"])
def test_regrets_add_up_to_the_exploitability(game):
    made = make_game(game)
    oracle = oracle_of(made)
    random = np.random.default_rng(0).gamma(1.0, size=int(oracle.tree.slots[-1]))
    policy = random / np.add.reduceat(random, oracle.tree.slots[:-1])[oracle.tree.set_of_slot]
    figures = set_regrets(oracle, policy)
    assert figures.regrets.min() >= -1e-12
    assert figures.total == pytest.approx(of_policy(oracle, policy).exploitability)


def test_always_bet_loses_by_the_jack():
    """Kuhn (1950): a bet or a call with the lowest card is wrong against a player that always calls."""
    oracle, _, figures = measured("AlwaysBet")
    by_key = {known.view.info_key: number for number, known in enumerate(oracle.tree.information_sets)}
    assert figures.regrets[by_key["J:"]] == pytest.approx(1 / 3 / 2), "a bet loses 2 chips and a pass 1"
    assert figures.regrets[by_key["J:B"]] == pytest.approx(1 / 3 / 2)
    assert figures.total == pytest.approx(1 / 3)
    assert oracle.tree.information_sets[by_key["J:B"]].actions[figures.answers[by_key["J:B"]]] == "FOLD"


def test_reach_of_first_sets_is_that_of_the_deal():
    oracle, _, figures = measured("random")
    first = [number for number, known in enumerate(oracle.tree.information_sets) if known.before is None]
    own = [number for number in first if oracle.tree.information_sets[number].seat == 0]
    assert figures.reach[own] == pytest.approx([1 / 3] * 3)


def test_leak_is_what_the_exploiters_lose_by_one_row():
    oracle, policy, figures = measured("Bluffer", equilibrium="NashApprox")
    tree = oracle.tree
    equilibrium = policy_on(tree, make_player("NashApprox", tree.game))

    def gain(rows):
        total = -float(tree.expected_returns(rows)[0].sum())
        for response in figures.responses:
            own = np.array([known.seat == response.seat for known in tree.information_sets])[tree.set_of_slot]
            played = np.where(own, 0.0, rows)
            played[response.slots] = 1.0
            total += float(tree.expected_returns(played)[0][response.seat])
        return total / 2

    assert np.abs(figures.leaks).max() > 0.01
    for number in range(len(tree.information_sets)):
        changed, own = policy.copy(), slice(int(tree.slots[number]), int(tree.slots[number + 1]))
        changed[own] = equilibrium[own]
        assert figures.leaks[number] == pytest.approx(gain(policy) - gain(changed), abs=1e-12)


def test_action_regrets_of_an_equilibrium_are_zero_where_it_plays():
    oracle, policy, _ = measured("NashApprox")
    regrets = action_regrets(oracle, policy)
    by_key = {
        (known.view.info_key, action): float(regrets[int(oracle.tree.slots[number]) + place])
        for number, known in enumerate(oracle.tree.information_sets)
        for place, action in enumerate(known.actions)
    }
    assert regrets[policy > 0.0] == pytest.approx(0.0, abs=1e-12)
    assert by_key["J:B", "CALL"] == pytest.approx(1.0), "a call with the lowest card loses one chip more"
    assert by_key["K:B", "FOLD"] == pytest.approx(3.0), "the highest card wins 2 chips and gives away 1"


def test_action_regret_is_known_where_the_policy_itself_never_leads():
    oracle, policy, _ = measured("AlwaysBet")
    sets = [known.view.info_key for known in oracle.tree.information_sets]
    fold = int(oracle.tree.slots[sets.index("K:PB")])
    assert action_regrets(oracle, policy)[fold] == pytest.approx(3.0)
