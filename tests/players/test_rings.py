"""Rings of bidders: what they say to whom, who steps aside, and who listens."""

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.games.talk import SILENT
from stratagem.players.catalogue import make_player

RULES = "talk(auction(seats=3, rounds=1), before=round, channel={channel}, rounds=2)"


def dealt(channel, *values):
    state = make_game(RULES.format(channel=channel)).start(Key(0))
    state.inner.values = values
    return state


def said(state, player, seat):
    (line,) = make_player(player, state.game).policy(state.view(seat))
    return line


@pytest.mark.parametrize(
    ("values", "bids"),
    [((3, 2), ("MEDIUM", "LOW")), ((2, 3), ("LOW", "MEDIUM")), ((3, 3), ("MEDIUM", "LOW")), ((2, 2), ("LOW", "LOW"))],
)
def test_the_member_with_the_lower_value_steps_aside(values, bids):
    state = dealt("private", *values, 1)
    names = "ring(Conservative, partner=1)", "ring(Conservative, partner=0)"
    first = {seat: said(state, name, seat) for seat, name in enumerate(names)}
    assert first == {0: f"TO player 1: My value is {values[0]}", 1: f"TO player 0: My value is {values[1]}"}
    state.play(first | {2: SILENT})
    second = {seat: said(state, name, seat) for seat, name in enumerate(names)}
    aside = 0 if values[1] > values[0] else 1
    assert second == {aside: f"TO player {1 - aside}: I will bid at most LOW", 1 - aside: SILENT}
    state.play(second | {2: SILENT})
    assert tuple(said(state, name, seat) for seat, name in enumerate(names)) == bids
    assert not state.view(2).facts.messages or all(not message.text for message in state.view(2).facts.messages)


def test_without_a_word_a_member_bids_as_its_player():
    state = dealt("public", 2, 3, 1)
    for _ in range(2):
        state.play(dict.fromkeys(range(3), SILENT))
    assert said(state, "ring(Truthful, partner=1)", 0) == "MEDIUM"


@pytest.mark.parametrize(
    ("price", "own", "heard", "bid"),
    [
        ("first", 3, 1, "MEDIUM"),
        ("first", 3, 3, "MEDIUM"),
        ("first", 2, 2, "LOW"),
        ("first", 1, 3, "LOW"),
        ("second", 3, 3, "HIGH"),
        ("second", 2, 3, "MEDIUM"),
    ],
)
def test_an_eavesdropper_bids_best_against_what_it_hears(price, own, heard, bid):
    state = make_game(f"talk(auction(seats=3, rounds=1, price={price}), before=round)").start(Key(0))
    state.inner.values = (heard, 1, own)
    assert said(state, "eavesdropper(Truthful)", 2) == SILENT
    state.play({0: f"My value is {heard}", 1: "My value is 1", 2: SILENT})
    assert said(state, "eavesdropper(Truthful)", 2) == bid


@pytest.mark.parametrize(
    ("game", "player", "sentence"),
    [
        ("talk(ipd)", "ring(TitForTat)", "around auction"),
        ("talk(ipd)", "eavesdropper(TitForTat)", "around auction"),
        ("talk(auction(seats=3))", "ring(Truthful, partner=3)", "seat from 0 to 2"),
        ("talk(auction(seats=3))", "ring(Truthful, partner=-1)", "`partner`"),
        ("talk(auction(seats=3), intents=[move])", "ring(Truthful)", "`intents` have state"),
        ("auction", "ring(Truthful)", "games with talk"),
    ],
)
def test_a_ring_refuses_games_that_it_cannot_play(game, player, sentence):
    with pytest.raises(BadParameter, match=sentence):
        make_player(player, make_game(game))


def test_a_name_of_a_ring_makes_it_again():
    game = make_game("talk(auction(seats=3))")
    for name in ("ring(auction/Truthful, partner=2)", "eavesdropper(auction/Shaded)"):
        assert make_player(name, game).name == name
