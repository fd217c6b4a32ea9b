"""Players by seat as one player."""

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.exploitability.exact import exact
from stratagem.players.catalogue import make_player
from stratagem.players.seated import SeatedPlayers


def test_seated_players_have_the_policy_of_the_player_at_each_seat():
    game = make_game("sender-receiver(bias=1)")
    pair = SeatedPlayers((make_player("Honest", game), make_player("Babbler", game)))
    state = game.start(Key(0))
    view = state.view(0)
    said = make_player("Honest", game).policy(view)
    assert pair.policies([view]) == [pair.policy(view)] == [said]
    state.play({0: next(iter(said))})
    assert pair.policy(state.view(1)) == make_player("Babbler", game).policy(state.view(1))


def test_seated_players_are_exploited_at_their_own_seats():
    """A reader that ignores a truthful sender: the sender can gain nothing, and the reader could lose nothing."""
    game = make_game("sender-receiver(bias=1)")
    found = exact(game, SeatedPlayers((make_player("Honest", game), make_player("Babbler", game))))
    sender, receiver = (seat.gain.mean for seat in found.by_seat)
    assert sender == pytest.approx(0.0)
    assert receiver == pytest.approx(35 / 12)
