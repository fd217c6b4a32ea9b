"""Every player by name: names go round, policies are legal mixtures everywhere, mistakes are one sentence."""

from collections import Counter
from dataclasses import dataclass

import pytest
from transcripts import random_states

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.registry import parse_call
from stratagem.games.catalogue import game_names, make_game
from stratagem.games.key import Key
from stratagem.games.matrix.repeated import REPEATED
from stratagem.players.base import Ask, Player, Scripted, describe_player, is_probability
from stratagem.players.catalogue import (
    KNOWN_AS,
    PLAYERS,
    SYNONYMS,
    WRAPPERS,
    make_player,
    player_names,
    suggest_opponent,
)
from stratagem.players.patterns import FAMILIES

GAMES = {family: make_game(family) for family in (*FAMILIES, "nim")}
NAMES = [(family, name) for family in FAMILIES for name in player_names(GAMES[family])]
WITH_OPTIONS = [
    ("ipd", "ipd/AlternateDefect(first=C)"),
    ("ipd", "ipd/Mixed(p=0.123456789)"),
    ("ipd", "ipd/ExtortZD(chi=3, phi=0.02)"),
    ("ipd", "noise(ipd/AlternateDefect(first=C), p=0.1)"),
    ("ipd", "noise(delay(noise(random, p=0.5), rounds=2), p=0.05)"),
    ("kuhn", "kuhn/NashApprox(alpha=0.1)"),
    ("kuhn", "kuhn/AlwaysPassQueen(alpha=0.1)"),
    ("kuhn", "noise(cfr:10, p=0.1)"),
    ("kuhn", "mcts:5"),
    ("nim", "perfect"),
    ("negotiation-v1", "delay(negotiation-v1/TFT-Neg, rounds=1)"),
]


def test_option_given_twice_is_refused():
    with pytest.raises(BadParameter, match="has the option first twice: give it once"):
        parse_call("ipd/AlternateDefect(first=C, first=D)")
    assert parse_call("agent('cmd:a x=1 x=1', timeout=3)").kwargs == {"timeout": 3}


@pytest.mark.parametrize(("family", "name"), [*NAMES, *WITH_OPTIONS])
def test_names_go_round(family, name):
    player = make_player(name, GAMES[family])
    assert isinstance(player, Player)
    assert make_player(player.name, GAMES[family]).name == player.name


@dataclass(frozen=True)
class Spoken(Scripted):
    text: str = ""

    def strategy(self, view):
        return view.choices.first


@pytest.mark.parametrize("text", ["C", "a b", "x, y", "3", "None", "p=1", "it's", "(", " a", "[C, D]", "\n"])
def test_a_name_makes_the_same_option_again(text):
    assert parse_call(f"{describe_player(Spoken(text))[:-1]}, other=1)")[1:] == ((), {"text": text, "other": 1})


@pytest.mark.parametrize(("family", "name"), WITH_OPTIONS)
def test_a_full_name_is_what_it_says(family, name):
    assert make_player(name, GAMES[family]).name == name


@pytest.mark.parametrize("key", [key for key in PLAYERS if "/" in key])
def test_a_key_is_the_printed_name(key):
    assert make_player(key, GAMES[key.partition("/")[0]]).name == key


STATING = [(family, name) for family, name in NAMES if family != "diplomacy" and name != "AnswerKey"]
"""The players that state their probabilities; sheets of orders are too many to be listed, and an answer key looks."""


@pytest.mark.parametrize(("family", "name"), STATING)
def test_policies_are_legal_mixtures_and_play_stays_within(family, name):
    game = GAMES[family]
    for wrapped in (name, f"noise({name}, p=0.2)"):
        player = make_player(wrapped, game)
        for number, state in enumerate(random_states(game)):
            for seat in state.to_act:
                view = state.view(seat)
                mix = player.policy(view)
                assert is_probability(mix)
                assert all(action in view.choices for action in mix)
                action = player.turn(Ask(view, Key(7), seat, number, 0, state)).action
                assert mix[action] > 0.0
                assert player.traits.stochastic or len(mix) == 1


@pytest.mark.parametrize("name", [name for name in REPEATED if name != "matrix"])
def test_players_of_two_by_two_games_play_all_of_them(name):
    game = make_game(name)
    for player in (make_player(text, game) for text in player_names(game) if not text.endswith("ZD")):
        for state in random_states(game, episodes=1):
            for seat in state.to_act:
                assert set(player.policy(state.view(seat))) <= set(state.view(seat).choices)


@pytest.mark.parametrize(
    ("family", "name"),
    [("ipd", "Mixed"), ("auction", "Shaded"), ("kuhn", "NashApprox"), ("kuhn", "RandomLegal"), ("ipd", "GenerousTFT")],
)
def test_sampled_play_agrees_with_policy(family, name):
    player = make_player(name, GAMES[family])
    for number, state in enumerate(random_states(GAMES[family], episodes=1)):
        view = state.view(state.to_act[0])
        asks = [Ask(view, Key(11).at(number), 0, turn, 0, state) for turn in range(4000)]
        seen = Counter(player.turn(ask).action for ask in asks)
        for action, p in player.policy(view).items():
            assert seen[action] / 4000 == pytest.approx(p, abs=0.035)


@pytest.mark.parametrize(("alias", "original"), SYNONYMS.items())
def test_synonyms_play_alike(alias, original):
    game = GAMES[alias.partition("/")[0]]
    one, other = make_player(alias, game), make_player(original, game)
    assert one.name != other.name
    for state in random_states(game):
        for seat in state.to_act:
            assert one.policy(state.view(seat)) == other.policy(state.view(seat))


def test_declared_memory_is_kept():
    """History before the declared rounds changes nothing (round numbers may)."""
    game = make_game("ipd")
    for name in player_names(game):
        player = make_player(name, game)
        if player.traits.memory is None:
            continue
        for state in random_states(game, episodes=6):
            facts = state.view(0).facts
            cut = max(0, len(facts.mine) - max(1, player.traits.memory))
            flipped = facts._replace(
                mine=tuple(1 - move for move in facts.mine[:cut]) + facts.mine[cut:],
                theirs=tuple(1 - move for move in facts.theirs[:cut]) + facts.theirs[cut:],
            )
            view = state.view(0)
            assert player.policy(view) == player.policy(type(view)(game, 0, flipped)), name


def test_names_without_family_and_in_any_case():
    game = GAMES["ipd"]
    assert make_player("titfortat", game).name == "ipd/TitForTat"
    assert make_player("IPD/TITFORTAT", game).name == "ipd/TitForTat"
    assert make_player("Random", game).name == "random"
    assert make_player("noise(TitForTat, p=0.05)", game).name == "noise(ipd/TitForTat, p=0.05)"
    assert make_player("noise(player=TitForTat)", game).name == "noise(ipd/TitForTat, p=0.1)"
    assert make_player("Conservative", GAMES["auction"]).name == "auction/Conservative"
    assert make_player("Conservative", GAMES["negotiation-v2"]).name == "negotiation-v2/Conservative"


def test_case_matters_where_two_names_differ_in_it_alone():
    game = make_game("talk(sender-receiver, words=[RED, BLUE])")
    assert make_player("babbler(Babbler)", game).name == "babbler(sender-receiver/Babbler)"
    assert make_player("BABBLER", make_game("sender-receiver")).name == "sender-receiver/Babbler"


@pytest.mark.parametrize(
    ("name", "error", "sentence"),
    [
        ("TitForTa", UnknownName, "no player of ipd called 'TitForTa': did you mean TitForTat"),
        ("Truthful", UnknownName, "no player of ipd"),
        ("auction/Truthful", BadParameter, "auction/Truthful plays auction, not ipd"),
        ("noise(auction/Truthful)", BadParameter, "auction/Truthful plays auction, not ipd"),
        ("noise", BadParameter, r"write noise\(PLAYER\)"),
        ("noise(TitForTat, q=1)", BadParameter, "cannot be made so"),
        ("TitForTat(p=1)", BadParameter, "cannot be made so"),
        ("perfect(depth=1)", BadParameter, r"perfect has no option depth; its options are budget\."),
        ("Mixed(p=often)", BadParameter, "`p` from 0 to 1, a number"),
        ("Mixed(p=0.5", BadParameter, "does not close it"),
        ("mcts:many", BadParameter, "whole number"),
    ],
)
def test_mistakes_are_one_sentence(name, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        make_player(name, GAMES["ipd"])
    assert "\n" not in str(caught.value)


def test_name_of_another_library_is_answered_with_the_name_here():
    for key, names in KNOWN_AS.items():
        family, _, ours = key.partition("/")
        assert make_player(ours, GAMES[family]).name == key
        for name in (*names, names[0].upper()):
            with pytest.raises(UnknownName) as caught:
                make_player(name, GAMES[family])
            assert str(caught.value) == f"There is no player of {family} called {name!r}: it is called {ours} here."
            with pytest.raises(UnknownName, match=r"kuhn called '\w+': (?!it is called)"):
                make_player(name, GAMES["kuhn"])


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("Tit For Tat", "TitForTat"),
        ("Win-Stay Lose-Shift", "Pavlov"),
        ("ZD-Extort-2", "ExtortZD"),
        ("Soft Go By Majority", "SoftMajority"),
        ("firm but fair", "FirmButFair"),
    ],
)
def test_name_in_several_words_is_answered_with_the_name_here(name, ours):
    with pytest.raises(UnknownName, match=f"it is called {ours} here"):
        make_player(name, GAMES["ipd"])


def test_the_folder_of_a_run_is_answered_with_the_name_of_its_player(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(BadParameter, match=f"is the folder of a run: its trained model is the player run:{tmp_path}."):
        make_player(str(tmp_path), GAMES["kuhn"])
    with pytest.raises(UnknownName):
        make_player("n" * 1000, GAMES["kuhn"])


def test_unknown_names_are_answered_from_the_game_at_hand():
    with pytest.raises(UnknownName) as caught:
        make_player("zzz", GAMES["kuhn"])
    assert "NashApprox" in str(caught.value)
    assert "TitForTat" not in str(caught.value)


def test_games_of_the_family_ipd_are_the_ones_that_are_named():
    named = FAMILIES["ipd"].partition(" and any")[0].split(", ")
    assert named == [name for name in REPEATED if name != "matrix" and make_game(name).spec.family == "ipd"]
    assert set(FAMILIES) == {key.partition("/")[0] for key in PLAYERS if "/" in key}


def test_listed_names_need_no_argument():
    for game in GAMES.values():
        assert not set(player_names(game)) & set(WRAPPERS)
        assert len(set(player_names(game))) == len(player_names(game))


@pytest.mark.parametrize("name", [*game_names(), "spiel:liars_dice(numdice=2)"])
def test_suggested_opponent_plays_the_game_and_sees_nothing_that_it_hides(name):
    try:
        game = make_game(name)
    except BadParameter:  # it needs a parameter
        return
    player = make_player(suggest_opponent(game), game)
    assert not (game.spec.private_information and player.traits.sees_hidden)
