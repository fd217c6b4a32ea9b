"""A safety of a stranger's game is checked when it is made: one sentence for each mistake."""

import pytest

import stranger
from stratagem.api.verification import verify
from stratagem.base.errors import BadParameter
from stratagem.games.base import Stakes
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import safety_of, stakes_of
from stratagem.measure.expectation import expected_payoffs
from stratagem.players.uniform import Random
from stratagem.playing.match import Match, Setup


def game_with(**parts):
    class Odd(stranger.Volunteer):
        safety = type("OddSafety", (stranger.VolunteerSafety,), parts)

    return Odd()


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"pools": ("random",)}, "has the pools .* must be a dict of tuples by pool"),
        ({"demonstrators": ("random",)}, "must be a dict of weights by player"),
        ({"demonstrators": {"random": "one"}}, "cannot have 'random' with the weight 'one'"),
        ({"demonstrators": {"random": -1.0}}, "cannot have 'random' with the weight -1.0"),
        ({"demonstrators": {3: 1.0}}, "cannot have 3 with the weight 1.0"),
        ({"demonstration_episodes": 0}, "`demonstration_episodes` of at least 1"),
        ({"signal_names": "externality"}, "must be a tuple of texts"),
        ({"weights": (1.0, 1.0, 1.0)}, "must be Weights of numbers >= 0"),
        ({"weights": stranger.Weights(1.0, -1.0, 1.0)}, "must be Weights of numbers >= 0"),
        ({"weights": stranger.Weights(1.0, float("nan"), 1.0)}, "must be Weights of numbers >= 0"),
    ],
)
def test_parts_of_a_safety_are_checked(parts, said):
    with pytest.raises(BadParameter, match=said):
        safety_of(game_with(**parts))


@pytest.mark.parametrize("safety", [object, stranger.VolunteerSafety(stranger.Volunteer())])
def test_a_safety_is_made_with_its_game(safety):
    class Odd(stranger.Volunteer):
        pass

    Odd.safety = safety
    with pytest.raises(BadParameter, match="name a subclass of Safety"):
        safety_of(Odd())


@pytest.mark.parametrize(
    "stakes", [(3.0, 2.0), Stakes(0.0, 0.0), Stakes(-1.0, 0.0), Stakes(1.0, float("inf")), Stakes("1", 0.0)]
)
def test_yardsticks_divide_payoffs(stakes):
    game = game_with(stakes=lambda self, state, seat: stakes)
    players = [Random()] * 3
    for read in (
        lambda: stakes_of(game.start(Key(0)), 0),
        lambda: expected_payoffs(game, players),
        lambda: Setup(id="one", match=Match(game, players), slots=(0, 1, 2), key=Key(0)).episode(game.start(Key(0))),
    ):
        with pytest.raises(BadParameter, match="must be Stakes with `cooperative` above 0"):
            read()
    assert "must be Stakes" in verify(game, episodes=1).report["signals"].detail


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"pools": {"exploit": ("Lazzy",)}}, "The pool exploit of volunteer cannot have 'Lazzy'"),
        ({"pools": {"exploit": ("random", "random")}}, "has random twice"),
        ({"pools": {"exploit": ("human",)}}, "people play in"),
        ({"pools": {}, "demonstrators": {"Lazzy": 1}}, "The demonstrators of volunteer cannot have 'Lazzy'"),
        ({"pools": {}, "demonstrators": {"random": 0}}, "have weights that sum to 0"),
    ],
)
def test_verification_finds_players_that_cannot_sit_down(parts, said):
    known = {"pools": {"train": ("random",)}, "demonstrators": {"random": 1}}
    report = verify(game_with(**{**known, **parts}), episodes=1).report
    assert report.failed == ("players",)
    assert said in report["players"].detail


def test_verification_counts_the_players_that_a_game_names():
    game = game_with(pools={"train": ("random",), "exploit": ("random", "first-legal")}, demonstrators={"random": 1})
    assert verify(game, episodes=1).report["players"].detail == "2 players of pools and demonstrators"
    game = game_with(pools={}, demonstrators={})
    assert verify(game, episodes=1).report["players"].outcome == "skipped"
