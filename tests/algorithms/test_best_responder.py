"""The worst opponent of a stated policy, played: what it gains is what the exact figures say, and nobody gains more."""

import pytest

from stratagem.algorithms.sepo.best_responder import best_responder, check_oracle
from stratagem.errors import CannotCompute
from stratagem.evaluation.best_response import best_response
from stratagem.evaluation.exact import exact
from stratagem.evaluation.expectation import expected
from stratagem.games.catalogue import make_game
from stratagem.players.catalogue import make_player


def advantage(game, agent, other):
    """Return the other's payoff less the agent's in an episode, averaged over the seats."""
    total = 0.0
    for seat in (0, 1):
        seated = [agent, other] if seat == 0 else [other, agent]
        sums = expected(game, seated).sums
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


def test_a_game_that_hides_something_and_has_no_oracle_is_refused():
    with pytest.raises(CannotCompute, match="take the pool"):
        check_oracle(make_game("auction"))
    check_oracle(make_game("kuhn"))
    check_oracle(make_game("ipd"))
