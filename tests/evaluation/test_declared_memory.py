"""Merging in exact evaluation: a player of declared short memory keeps to the round and the state key."""

import pytest

from stratagem.games.auction.players import Matcher
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.matrix.repeated import REPEATED
from stratagem.players.base import Traits
from stratagem.players.catalogue import PLAYERS, make_player, player_names
from stratagem.players.patterns import FAMILIES

STATING = [family for family in FAMILIES if family != "diplomacy"]
"""Where players can say their odds; nothing is exact about sheets of orders."""
GAMES = [*STATING, *(name for name in REPEATED if name not in ("matrix", "ipd")), "auction(seats=3)", "leduc"]
GAMES += ["kuhn(hands=2)", "tic-tac-toe", "spiel:nim(pile_sizes=1;2;2)", "spiel:tic_tac_toe", "liars-dice"]
OTHERS = ["cfr:3", "perfect", "noise(random, p=0.2)", "delay(first-legal)", "delay(TitForTat)", "delay(TFT-Neg)"]
OTHERS += ["noise(TitForTat, p=0.1)", "noise(AggressiveValue)", "noise(TFT-Neg)", "delay(AlternateDefect, rounds=2)"]
SLOW = {("leduc", "cfr:3"), ("liars-dice", "cfr:3"), ("tic-tac-toe", "cfr:3"), ("spiel:tic_tac_toe", "cfr:3")}


def players(text):
    """All that sit down in this game and say what they do."""
    game = make_game(text)
    found = []
    for name in [*player_names(game), *OTHERS]:
        if (text, name) in SLOW:
            continue
        try:
            player = make_player(name, game)
            player.policy(game.start(Key(0)).view(game.start(Key(0)).to_act[0]))
        except Exception:  # noqa: BLE001 - it does not play this game, and other tests say why
            continue
        found.append(player)
    return game, found


def situations(game, episodes=120):
    """Positions of random play, with equal round and state key often met by different histories."""
    met = {}
    for number in range(episodes):
        key = Key(31).at(number)
        state, turn = game.start(key.at("chance", number % 6)), 0
        while not state.over:
            for seat in state.to_act:
                view = state.view(seat)
                met.setdefault((seat, state.round, view.state_key), {}).setdefault(view.info_key, view)
            state = state.fork()
            state.play({s: state.view(s).choices.sample(key.at("move", turn, s)) for s in state.to_act})
            turn += 1
    return [list(views.values()) for views in met.values() if len(views) > 1]


def violation(player, groups):
    """Two views that a short memory cannot tell apart, and that the player does tell apart."""
    for views in groups:
        first = player.policy(views[0])
        for view in views[1:40]:
            if dict(player.policy(view)) != dict(first):
                return views[0].info_key, view.info_key
    return None


@pytest.mark.parametrize("text", GAMES)
def test_a_memory_of_one_round_lies_in_the_state_key(text):
    game, found = players(text)
    groups = situations(game)
    assert len(found) >= 2
    for player in found:
        if player.traits.memory is not None and player.traits.memory <= 1 and game.spec.markov:
            assert violation(player, groups) is None, player.name


@pytest.mark.parametrize("text", ["ipd", "auction", "negotiation-v1"])
def test_no_memory_needs_the_round_alone(text):
    """Not even the last round: only the round's number, and in the auction the value."""
    game, found = players(text)
    views = {}
    for group in situations(game):
        for view in group:
            own = view.facts.value if text == "auction" else view.seat
            views.setdefault((view.seat, own, round_of(view)), []).append(view)
    for player in found:
        if player.traits.memory == 0:
            assert violation(player, views.values()) is None, player.name


def round_of(view):
    return getattr(view.facts, "round", None) if hasattr(view.facts, "round") else len(view.facts.mine)


def test_the_check_sees_a_player_that_remembers_more_than_it_says():
    game = make_game("auction")

    class Liar(Matcher):
        traits = Traits(memory=1)

    assert violation(Liar(), situations(game)) is not None
    pie = make_game("negotiation-v1")
    balanced = make_player("Balanced", pie)
    assert violation(balanced, situations(pie)) is not None


def test_the_games_meet_equal_keys_by_different_ways():
    for text in ("ipd", "auction", "negotiation-v1(pie=2)", "tic-tac-toe"):
        assert len(situations(make_game(text))) > 10


def test_every_scripted_player_is_looked_at():
    seen = {player.name for text in STATING for player in players(text)[1]}
    assert {key for key in PLAYERS if "/" in key and not key.startswith(("diplomacy/", "quiz/"))} <= seen
