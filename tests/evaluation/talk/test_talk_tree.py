"""First exchange of a game with talk on its tree: known figures of players made for them."""

from dataclasses import replace
from math import log

import pytest

from stratagem.api.talks import talk
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games import make_game
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.talk.definitions import deceives
from stratagem.measure.talk.exchange import Exchange
from stratagem.measure.talk.talk_tree import TalkTree
from stratagem.measure.talk.tree_source import TreeSource, exchange_figures
from stratagem.players.catalogue import make_player

KUHN = "talk(kuhn(hands=1), before=round, intents=[state])"
NASH = "NashApprox"


def figures(game, speaker, reader, seat=0, number=0):
    talk = make_game(game)
    players = [make_player(speaker, talk), make_player(reader, talk)]
    return exchange_figures(TalkTree(talk, players if seat == 0 else players[::-1]), seat, number)


@pytest.mark.parametrize(
    "text", [KUHN, KUHN.replace("round,", "round, order='in turn',"), "talk(kuhn(hands=1), before=round, words=[a, b])"]
)
def test_talk_does_not_change_the_value_of_a_zero_sum_game(text):
    """Every equilibrium of talk(kuhn) is worth -1/18 to the opener: either seat can ignore what it hears."""
    game = make_game(text)
    found = exact(game, make_player(NASH, game))
    assert found.values == pytest.approx((-1 / 18, 1 / 18), abs=1e-9)
    assert found.nash_conv == pytest.approx(0.0, abs=1e-6)


def test_a_babbler_is_as_exploitable_as_its_silent_self_and_an_honest_player_more():
    game = make_game(KUHN)
    for player in (NASH, "TightPassive"):
        silent = exact(make_game("kuhn(hands=1)"), make_player(player, make_game("kuhn(hands=1)"))).nash_conv
        babbler, honest = (
            exact(game, make_player(f"{how}({player})", game)).nash_conv for how in ("babbler", "honest")
        )
        assert babbler == pytest.approx(silent, abs=1e-9)
        assert honest > silent + 0.1


@pytest.mark.parametrize(
    ("speaker", "information", "honesty"),
    [
        ("honest", log(3), 1.0),
        ("inverter", log(3), 0.0),
        ("babbler", 0.0, 1 / 3),
        ("liar", log(3) - log(2), 0.0),
        ("silent", 0.0, None),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_information_and_honesty_of_the_bots(speaker, information, honesty, seat):
    found = figures(KUHN, f"{speaker}({NASH})", NASH, seat)
    assert found.state_information == pytest.approx(information, abs=1e-9)
    assert found.honesty == (None if honesty is None else pytest.approx(honesty))
    assert found.honesty_by_chance == (None if honesty is None else pytest.approx(1 / 3))
    assert found.action_information == pytest.approx(0.0, abs=1e-9)
    assert found.deception in (None, 0.0)


def test_a_lie_deceives_who_believes_it_and_nobody_else():
    believed, ignored = (figures(KUHN, f"liar({NASH})", reader) for reader in (f"believer({NASH})", NASH))
    assert believed.deception > believed.deception_by_chance > 0.0
    assert ignored.deception == 0.0
    assert figures(KUHN, f"honest({NASH})", f"believer({NASH})").deception == 0.0


def test_the_effect_is_the_whole_where_every_promise_is_answered():
    found = figures("talk(ipd(rounds=1))", "liar(AlwaysDefect)", "believer(AlwaysCooperate)")
    assert found.effect == pytest.approx(1.0)
    assert found.returns == (1.0, 1.0)
    assert found.jammed == (5.0, 0.0)
    assert found.worth == (-4.0, 1.0)


@pytest.mark.parametrize(
    ("seat", "effect"),
    [
        # The believer bets no jack, where it bet a third (1/3 of deals), bets a queen against a claimed jack (1/12),
        # and no king against a claimed king (1/6).
        (1, 1 / 9 + 1 / 12 + 1 / 6),
        (0, 35 / 108),
    ],
)
def test_the_effect_is_a_mean_over_messages_and_cards_as_they_come_together(seat, effect):
    assert figures(KUHN, f"liar({NASH})", f"believer({NASH})", seat).effect == pytest.approx(effect)


def test_a_reader_that_does_not_listen_is_not_moved():
    found = figures(KUHN, f"honest({NASH})", NASH)
    assert found.effect == 0.0
    assert found.worth == pytest.approx((0.0, 0.0), abs=1e-9)


def test_the_worth_of_talk_to_a_believer_is_what_the_speaker_loses():
    found = figures(KUHN, f"honest({NASH})", f"believer({NASH})")
    assert found.worth[0] == pytest.approx(-found.worth[1])
    assert found.worth[1] > 0.1


def test_it_is_for_two_seats_a_speaker_and_stated_players():
    with pytest.raises(BadParameter, match="two seats"):
        figures("talk(public-goods, words=[hi])", "random", "random")
    with pytest.raises(BadParameter, match="says nothing"):
        figures("talk(kuhn(hands=1), before=round, who=[1])", "random", "random", 0)
    with pytest.raises(CannotCompute, match="open text"):
        figures("talk(kuhn(hands=1), limit=9)", "random", "random")
    with pytest.raises(CannotCompute, match="probabilities"):
        figures(KUHN, "random", "human")


@pytest.mark.parametrize("player", ["random", "TitForTat"])
def test_open_text_has_no_exact_best_response(player):
    game = make_game("talk(ipd(rounds=2), limit=10)")
    with pytest.raises(CannotCompute, match="open text"):
        exact(game, make_player(player, game))


def test_returns_are_sums_over_the_game_in_its_unit():
    """Two rounds of mutual defection pay each seat 2 points."""
    game = "talk(ipd(rounds=2), who=[0], intents=[move])"
    told = talk(game, "liar(AlwaysDefect)", "believer(AlwaysCooperate)")
    assert told.unit == "points"
    assert told.figures[0].returns == (2.0, 2.0)


def test_the_effect_is_the_mean_over_what_is_said_and_leaves_silence_out():
    """Random play is silent one time in four, and says each sentence as often as the babbler."""
    silent, babbling = (figures(KUHN, speaker, f"believer({NASH})", 1) for speaker in ("random", "babbler(random)"))
    assert (silent.messages, babbling.messages) == pytest.approx((0.75, 1.0))
    assert silent.effect == pytest.approx(babbling.effect)
    assert silent.effect > 0.1


@pytest.mark.parametrize(("lie", "deceived"), [((1.0, -1.0), True), ((1.0, 1.0), False), ((-1.0, -1.0), False)])
def test_a_statement_deceives_that_gains_at_the_readers_cost(lie, deceived):
    game = make_game(KUHN)
    tree = TalkTree(game, [make_player(f"liar({NASH})", game), make_player(NASH, game)])
    source = TreeSource(Exchange(tree, 0))
    source.exchange.sent = [replace(one, values=(0.0, 0.0)) for one in source.sent]
    false = next(one for one in source.sent if one.truth is False)
    assert deceives(source, replace(false, values=lie)) is deceived
