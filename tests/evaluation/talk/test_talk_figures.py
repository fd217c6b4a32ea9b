"""Figures of talk: information, honesty and deception with known values, by intervention and by knowledge."""

from itertools import permutations
from math import log

import pytest

from stratagem.api.talks import talk as measure
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games import Key, make_game
from stratagem.games.sender_receiver import SENDER, SILENT
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.talk.channels import channel_of
from stratagem.measure.talk.definitions import (
    information_on_action,
    mutual_information,
    sampled_information,
    variation,
)
from stratagem.measure.talk.exact_source import Meaning, SignallingSource
from stratagem.measure.talk.figures import talk_figures
from stratagem.measure.talk.signalling import Signalling
from stratagem.players.catalogue import make_player

GAME = make_game("sender-receiver")


def figures_of(sender, receiver, game="sender-receiver"):
    """Return the figures of one player's messages to another."""
    return measure(game, sender, receiver).figures[SENDER]


@pytest.mark.parametrize("states", [2, 5, 6])
@pytest.mark.parametrize("bias", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("name", "honest"), [("Honest", 1.0), ("Inverter", 0.0)])
def test_honest_and_inverter_tell_everything_and_deceive_nobody_who_knows_the_code(name, honest, bias, states):
    figures = figures_of(name, name, f"sender-receiver(states={states}, bias={bias})")
    assert figures.honesty == honest
    assert figures.state_information == pytest.approx(log(states))
    assert figures.action_information == pytest.approx(log(states))
    assert figures.deception == 0.0
    assert figures.returns == pytest.approx((-(bias**2), 0.0))


def test_babbling_has_no_information_and_the_honesty_of_chance():
    figures = figures_of("Babbler", "Honest")
    assert figures.state_information == pytest.approx(0.0, abs=1e-12)
    assert figures.honesty == pytest.approx(figures.honesty_by_chance) == pytest.approx(1 / 6)
    assert figures.messages == pytest.approx(6 / 7)
    assert figures.deception == pytest.approx(figures.deception_by_chance)
    assert figures_of("Honest", "Babbler").action_information == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("blocks", [1, 2])
def test_equilibrium_tells_its_blocks(blocks):
    figures = figures_of(f"Equilibrium(blocks={blocks})", "Equilibrium")
    sizes = {1: (6,), 2: (2, 4)}[blocks]
    assert figures.state_information == pytest.approx(-sum(n / 6 * log(n / 6) for n in sizes))
    assert figures.deception == 0.0


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.5, 1.0])
def test_liar_is_honest_at_its_rate_and_deceives_a_believer_by_one_lie_in_five(rate):
    """Of the five lies in each state but the last, only the next state up pays the sender; it costs the receiver 1."""
    figures = figures_of(f"Liar(p={rate})", "Honest")
    assert figures.honesty == pytest.approx(1.0 - rate)
    assert figures.deception == pytest.approx(rate * 5 / 6 / 5)
    lies = rate * log(rate / 5) if rate else 0.0
    truths = (1 - rate) * log(1 - rate) if rate < 1 else 0.0
    assert figures.state_information == pytest.approx(log(6) + lies + truths)


def test_every_figure_of_a_liar_to_a_believer_of_two_states_is_the_one_by_hand():
    """Two states, bias 0: the liar names the other one in 1 of 4. A believer plays what it hears, after silence 0.5.

    It loses 1 after a lie and .25 after silence: both get -1/4, and would in silence. A deaf reader gets -1/4, too. The
    truth is told by 3/4, so the message tells log 2 - H(1/4). Every action is another than after silence.
    """
    found = figures_of("Liar(p=0.25)", "Honest", "sender-receiver(states=2, bias=0)")
    told = log(2) + 0.25 * log(0.25) + 0.75 * log(0.75)
    assert (found.messages, found.honesty, found.honesty_by_chance) == pytest.approx((1.0, 0.75, 0.5))
    assert (found.state_information, found.action_information) == pytest.approx((told, log(2)))
    assert (found.deception, found.deception_by_chance) == (0.0, 0.0)
    assert (found.effect, found.effect_on_table) == pytest.approx((1.0, 1.0))
    assert found.returns == found.jammed == pytest.approx((-0.25, -0.25))
    assert found.gain_by_reader == found.gain_by_table == pytest.approx((0.0, 0.0))
    assert (found.gullibility, *found.worth) == pytest.approx((0.0, 0.0, 0.0))
    assert (found.keeping, found.met) == (None, None)


def test_a_second_round_of_the_sender_is_measured_given_the_first():
    """Both know the first state by then, so the second message tells what the first did."""
    once, again = (
        measure("sender-receiver(states=2, rounds=2)", "Liar(p=0.25)", "Honest", exchange=n).figures[0] for n in (1, 2)
    )
    for name in ("honesty", "state_information", "action_information", "effect"):
        assert getattr(once, name) == pytest.approx(getattr(again, name))


def test_exaggeration_deceives_a_believer_and_nobody_who_discounts():
    believed, discounted = (figures_of("Exaggerator", reader) for reader in ("Honest", "Exaggerator"))
    assert believed.deception == pytest.approx(5 / 6)
    assert discounted.deception == 0.0
    assert believed.honesty == discounted.honesty
    # STATE 5 is sent twice as often
    assert believed.action_information == pytest.approx(4 / 6 * log(6) + 2 / 6 * log(3))


def test_labels_have_information_and_no_truth():
    figures = figures_of("Equilibrium", "Equilibrium", "sender-receiver(labels=3)")
    assert (figures.honesty, figures.messages, figures.deception) == (None, pytest.approx(1.0), None)
    assert figures.state_information > 0.0


def test_returns_are_those_of_play():
    for sender, receiver in (("Liar", "Honest"), ("Exaggerator", "Equilibrium"), ("Babbler", "Honest")):
        played = expected_payoffs(GAME, [make_player(sender, GAME), make_player(receiver, GAME)])
        assert figures_of(sender, receiver).returns == pytest.approx((played.per_round(0), played.per_round(1)))


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ({"a": 1.0}, {"b": 1.0}, 1.0),
        ({"a": 0.5, "b": 0.5}, {"b": 0.5, "c": 0.5}, 0.5),
        ({"a": 1.0}, {"a": 1.0, "b": 0.0}, 0.0),
    ],
)
def test_total_variation_is_half_the_sum_of_the_differences(one, other, apart):
    assert variation(one, other) == variation(other, one) == apart


@pytest.mark.parametrize(("receiver", "effect"), [("Honest", 4 / 5), ("noise(Honest, p=0.5)", 0.35), ("Babbler", 0.0)])
def test_effect_is_a_mean_over_statements_of_the_variation_against_silence(receiver, effect):
    """A believer plays the middle one of five states after silence, too; noise leaves .5 less .5/8 of each other."""
    assert figures_of("Honest", receiver, "sender-receiver(states=5)").effect == pytest.approx(effect)


CARDS = "JQK"
DEALS = dict.fromkeys(permutations(CARDS, 2), 1 / 6)
CLAIMS = {f"I HOLD {card}": Meaning(frozenset(d for d in DEALS if d[0] == card), "mine") for card in CARDS}
GUESSES = {f"YOU HOLD {card}": Meaning(frozenset(d for d in DEALS if d[1] == card), "yours") for card in CARDS}


def cards(says, answers, payoff=lambda deal, message, action: (0.0, 0.0)):
    """Two seats with a card each, as in Kuhn poker; the first speaks."""
    heard = {(card, message): answers(card, message) for card in CARDS for message in {**CLAIMS, **GUESSES}}
    first, second = (lambda deal: deal[0]), (lambda deal: deal[1])
    return Signalling(DEALS, {card: says(card) for card in CARDS}, heard, payoff, first, second)


def test_message_to_action_is_not_confounded_by_what_both_see():
    """A receiver that plays by its own card alone: its action depends on the message, by the deal, but not by do(m)."""
    told = cards(lambda card: {f"I HOLD {card}": 1.0}, lambda card, message: {"BET" if card == "K" else "PASS": 1.0})
    joint = {}
    for (mine, yours), p in DEALS.items():
        pair = mine, yours == "K"
        joint[pair] = joint.get(pair, 0.0) + p
    assert mutual_information(joint) > 0.1
    assert information_on_action(told) == pytest.approx(0.0, abs=1e-12)
    assert talk_figures(SignallingSource(told, CLAIMS)).state_information == pytest.approx(log(3))


def test_statement_is_judged_by_what_the_speaker_knows():
    """YOU HOLD J is a guess with K in hand, and a lie with J in hand; its truth on this deal plays no part."""
    told = cards(lambda card: {"YOU HOLD J": 1.0}, lambda card, message: {"PASS": 1.0})
    source = SignallingSource(told, GUESSES)
    truths = {one.item.known: (one.item.truth, one.weight) for one in source.messages()}
    assert truths == {"J": (False, 1 / 3), "Q": (None, 1 / 3), "K": (None, 1 / 3)}
    assert talk_figures(source).honesty == 0.0
    assert talk_figures(SignallingSource(told, {})).honesty is None


def test_deception_compares_with_true_statements_of_the_same_form():
    """A bluff about the own card makes Q fold; the same words to a receiver that never folds change nothing."""

    rank = {"J": 0, "Q": 1, "K": 2}

    def ordered(deal, message, action):
        stake = 1.0 if action == "FOLD" else 2.0 if rank[deal[0]] > rank[deal[1]] else -2.0
        return stake, -stake

    def timid(card, message):
        return {"FOLD" if "HOLD K" in message and card != "K" else "CALL": 1.0}

    bluff = cards(lambda card: {"I HOLD K": 1.0}, timid, ordered)
    found = SignallingSource(bluff, CLAIMS)
    # with J: Q folds and K calls, so (1 - 2) / 2 = -.5 against -2; with Q: J folds and K calls, -.5 against (2 - 2) / 2
    assert talk_figures(found).deception == pytest.approx(1 / 3)
    changes = {one.item.known: found.against_truth(one.item) for one in found.messages() if one.item.truth is False}
    assert changes == {"J": pytest.approx((1.5, -1.5)), "Q": pytest.approx((-0.5, 0.5))}
    bold, guessing = (
        cards(lambda card: {"I HOLD K": 1.0}, lambda c, m: {"CALL": 1.0}, ordered),
        cards(lambda card: {"YOU HOLD J": 1.0}, timid, ordered),
    )
    assert [talk_figures(SignallingSource(talk, CLAIMS)).deception for talk in (bold, guessing)] == [0.0, None]


def test_permutation_null_covers_independence_and_finds_dependence():
    key = Key(5)
    alone = [(0, key.at("x", n).integer(4), key.at("y", n).integer(4)) for n in range(60)]
    biased = sampled_information(alone, key, 200)
    assert biased.plug_in > 0.03  # though nothing depends on anything
    assert abs(biased.excess) < 0.05
    assert biased.p_value > 0.05
    told = [(0, x, x) for _, x, _ in alone]
    assert sampled_information(told, key, 200).p_value == pytest.approx(1 / 201)


def test_shared_history_is_no_information():
    """The history fixes both columns; within it there is no dependence, and all permutations are alike."""
    rows = [(n % 3, n % 3, n % 3) for n in range(60)]
    found = sampled_information(rows, Key(0), 50)
    assert (found.plug_in, found.p_value) == pytest.approx((0.0, 1.0))


def test_wrong_descriptions_are_refused():
    with pytest.raises(BadParameter, match="sum to 1"):
        Signalling({0: 0.5}, {0: {"A": 1.0}}, {}, lambda *_: (0.0, 0.0))
    with pytest.raises(BadParameter, match="at 1 must have probabilities"):
        Signalling({0: 0.5, 1: 0.5}, {0: {"A": 1.0}}, {}, lambda *_: (0.0, 0.0))
    with pytest.raises(CannotCompute, match="no mixture of actions"):
        talk_figures(SignallingSource(Signalling({0: 1.0}, {0: {"A": 1.0}}, {}, lambda *_: (0.0, 0.0)), {}))
    with pytest.raises(BadParameter, match=r"such as talk\(kuhn\) or sender-receiver, not kuhn"):
        measure("kuhn", "random", "random")
    with pytest.raises(BadParameter, match="sender-receiver are exact: leave `episodes` out"):
        measure("sender-receiver", "Liar", "Honest", episodes=5)


def test_meaning_of_a_statement_is_its_state():
    channel = channel_of(GAME, "test")
    view = GAME.start(Key(0)).view(SENDER)
    assert [channel.read(f"STATE {n}").truth(view) for n in range(6)].count(True) == 1
    assert channel.read(f"STATE {view.facts.state}").truth(view)
    assert channel.read(SILENT) is None
