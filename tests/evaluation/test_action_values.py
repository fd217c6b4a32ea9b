"""Values of actions between equilibrium players of Kuhn poker, and between any players by their own definition."""

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.enumeration import starts
from stratagem.measure.action_values import action_values
from stratagem.measure.expectation import expected_payoffs
from stratagem.players.catalogue import make_player


def values(game, *names):
    made = make_game(game)
    return action_values(made, [make_player(name, made) for name in names])


def test_in_equilibrium_they_are_those_of_kuhn():
    """Whatever the first parameter: a king is worth 7/6, a jack loses its ante, a queen that bets half a chip."""
    found = values("kuhn(hands=1)", "cfr:3000", "cfr:3000")
    known = {
        (0, "J:", "PASS"): -1.0,
        (0, "J:", "BET"): -1.0,
        (0, "Q:", "BET"): -0.5,
        (0, "Q:", "PASS"): -1 / 3,
        (0, "K:", "BET"): 7 / 6,
        (0, "K:", "PASS"): 7 / 6,
        (0, "Q:PB", "CALL"): -1.0,
        (1, "J:B", "CALL"): -2.0,
        (1, "K:B", "CALL"): 2.0,
        (1, "Q:B", "CALL"): -1.0,
        (1, "K:P", "PASS"): 1.0,
    }
    for pair, value in known.items():
        assert found[pair] == pytest.approx(value, abs=0.02), pair
    assert len(found) == 24


@pytest.mark.parametrize("names", [("random", "random"), ("cfr:50", "random"), ("NashApprox", "AlwaysBet")])
def test_what_a_seat_does_times_what_it_is_worth_is_what_it_is_paid(names):
    game = make_game("kuhn(hands=1)")
    players = [make_player(name, game) for name in names]
    found = action_values(game, players)
    paid = 0.0
    for card in "JQK":
        rows = {action: value for (seat, key, action), value in found.items() if (seat, key) == (0, f"{card}:")}
        view = view_of(game, card)
        mix = players[0].policy(view)
        paid += sum(mix.get(action, 0.0) * value for action, value in rows.items()) / 3
    assert paid == pytest.approx(expected_payoffs(game, players).per_round(0))


def view_of(game, card):
    return next(state.view(0) for _, state in starts(game) if state.view(0).state_key == f"{card}:")


def test_where_seats_choose_at_once_it_is_refused():
    with pytest.raises(CannotCompute, match="at once"):
        values("ipd(rounds=1)", "random", "random")
