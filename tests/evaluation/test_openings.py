"""The policy of a player in the first situations of a game."""

import pytest

from stratagem.games.catalogue import make_game
from stratagem.measure.openings import opening_policy, opening_views
from stratagem.players.catalogue import make_player


@pytest.mark.parametrize(
    ("text", "count"),
    [("kuhn", 12), ("kuhn(hands=1)", 12), ("ipd", 2 * (1 + 4 + 16)), ("auction", 6), ("negotiation-v1", 2)],
)
def test_small_games_are_told_whole_and_large_ones_by_whole_moves(text, count):
    assert len(opening_views(make_game(text))) == count


def test_nothing_is_told_where_the_first_move_alone_is_too_much():
    assert opening_views(make_game("negotiation-v2")) == {}


def test_a_limit_cuts_between_moves():
    assert len(opening_views(make_game("ipd"), limit=41)) == 2 * (1 + 4)


def test_the_policy_is_what_the_player_states():
    game = make_game("kuhn")
    policy = opening_policy(game, make_player("NashApprox", game))
    assert policy["J:"]["BET"] == pytest.approx(1 / 3)
    assert policy["K:"] == {"BET": 1.0}
    assert policy["Q:PB"]["CALL"] == pytest.approx(2 / 3)
