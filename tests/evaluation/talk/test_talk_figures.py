"""Figures of talk: information, honesty and deception with known values, by intervention and by knowledge."""

from itertools import permutations
from math import log

import pytest

from stratagem.errors import BadParameter, CannotCompute
from stratagem.evaluation.expectation import expected
from stratagem.evaluation.talk.effect import returns, variation
from stratagem.evaluation.talk.figures import talk_figures
from stratagem.evaluation.talk.information import (
    action_information,
    mutual_information,
    sampled_information,
    state_information,
)
from stratagem.evaluation.talk.sender_receiver import meanings, sender_receiver_figures, signalling
from stratagem.evaluation.talk.signalling import Signalling
from stratagem.evaluation.talk.statements import Statement, deception, honesty
from stratagem.games import Key, make_game
from stratagem.games.sender_receiver import SILENT
from stratagem.players.catalogue import make_player

GAME = make_game("sender-receiver")


def talk(sender, receiver, game=GAME):
    """The message of one player to another."""
    return signalling(game, make_player(sender, game), make_player(receiver, game))


@pytest.mark.parametrize("states", [2, 5, 6])
@pytest.mark.parametrize("bias", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("name", "honest"), [("Honest", 1.0), ("Inverter", 0.0)])
def test_honest_and_inverter_tell_everything_and_deceive_nobody_who_knows_the_code(name, honest, bias, states):
    figures = sender_receiver_figures(f"sender-receiver(states={states}, bias={bias})", name, name)
    assert figures.honesty.share == honest
    assert figures.state_information == pytest.approx(log(states))
    assert figures.action_information == pytest.approx(log(states))
    assert figures.deception.rate == figures.deception.speaker_gain == figures.deception.receiver_loss == 0.0
    assert figures.returns == pytest.approx((-(bias**2), 0.0))


def test_babbling_has_no_information_and_the_honesty_of_chance():
    figures = sender_receiver_figures(GAME, "Babbler", "Honest")
    assert figures.state_information == pytest.approx(0.0, abs=1e-12)
    assert figures.honesty.share == pytest.approx(figures.honesty.chance) == pytest.approx(1 / 6)
    assert figures.honesty.without == pytest.approx(1 / 7)
    assert figures.deception.rate == pytest.approx(figures.deception.chance)
    assert sender_receiver_figures(GAME, "Honest", "Babbler").action_information == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("blocks", [1, 2])
def test_equilibrium_tells_its_blocks(blocks):
    figures = sender_receiver_figures(GAME, f"Equilibrium(blocks={blocks})", "Equilibrium")
    sizes = {1: (6,), 2: (2, 4)}[blocks]
    assert figures.state_information == pytest.approx(-sum(n / 6 * log(n / 6) for n in sizes))
    assert figures.deception.rate == 0.0


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.5, 1.0])
def test_liar_is_honest_at_its_rate_and_deceives_a_believer_by_one_lie_in_five(rate):
    """Of the five lies in each state but the last, only the next state up pays the sender; it costs the receiver 1."""
    figures = sender_receiver_figures(GAME, f"Liar(p={rate})", "Honest")
    assert figures.honesty.share == pytest.approx(1.0 - rate)
    assert figures.deception.rate == pytest.approx(rate * 5 / 6 / 5)
    assert figures.deception.speaker_gain == pytest.approx(figures.deception.rate)
    assert figures.deception.receiver_loss == pytest.approx(figures.deception.rate)
    lies = rate * log(rate / 5) if rate else 0.0
    truths = (1 - rate) * log(1 - rate) if rate < 1 else 0.0
    assert figures.state_information == pytest.approx(log(6) + lies + truths)


def test_exaggeration_deceives_a_believer_and_nobody_who_discounts():
    believed, discounted = (sender_receiver_figures(GAME, "Exaggerator", r) for r in ("Honest", "Exaggerator"))
    assert believed.deception.rate == pytest.approx(5 / 6)
    assert believed.deception.receiver_loss == pytest.approx(5 / 6)
    assert discounted.deception.rate == 0.0
    assert believed.honesty == discounted.honesty
    # STATE 5 is sent twice as often
    assert believed.action_information == pytest.approx(4 / 6 * log(6) + 2 / 6 * log(3))


def test_labels_have_information_and_no_truth():
    game = make_game("sender-receiver(labels=3)")
    figures = sender_receiver_figures(game, "Equilibrium", "Equilibrium")
    assert (figures.honesty.share, figures.honesty.without, figures.deception) == (None, 1.0, None)
    assert figures.state_information > 0.0


def test_returns_are_those_of_play():
    for sender, receiver in (("Liar", "Honest"), ("Exaggerator", "Equilibrium"), ("Babbler", "Honest")):
        played = expected(GAME, [make_player(sender, GAME), make_player(receiver, GAME)])
        assert returns(talk(sender, receiver)) == pytest.approx((played.per_round(0), played.per_round(1)))


@pytest.mark.parametrize(
    ("receiver", "instead", "effect"),
    [
        ("Honest", "STATE 2", 1.0),
        ("Honest", "STATE 1", 0.0),
        ("noise(Honest, p=0.5)", "STATE 2", 0.45),
        ("Babbler", SILENT, 0.0),
    ],
)
def test_effect_of_a_message_is_a_total_variation(receiver, instead, effect):
    game = talk("Honest", receiver)
    for known in game.heard:
        assert variation(game.answer(known, "STATE 1"), game.answer(known, instead)) == pytest.approx(effect)


CARDS = "JQK"
DEALS = dict.fromkeys(permutations(CARDS, 2), 1 / 6)
CLAIMS = {f"I HOLD {card}": Statement(frozenset(d for d in DEALS if d[0] == card), "mine") for card in CARDS}
GUESSES = {f"YOU HOLD {card}": Statement(frozenset(d for d in DEALS if d[1] == card), "yours") for card in CARDS}


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
    assert action_information(told) == pytest.approx(0.0, abs=1e-12)
    assert state_information(told) == pytest.approx(log(3))


def test_statement_is_judged_by_what_the_speaker_knows():
    """YOU HOLD J is a guess with K in hand, and a lie with J in hand; its truth on this deal plays no part."""
    told = cards(lambda card: {"YOU HOLD J": 1.0}, lambda card, message: {"PASS": 1.0})
    found = honesty(told, GUESSES)
    assert (found.true, found.false, found.unknown) == pytest.approx((0.0, 1 / 3, 2 / 3))
    assert found.share == 0.0
    assert honesty(told, {}).without == 1.0


def test_deception_compares_with_true_statements_of_the_same_form():
    """A bluff about the own card makes Q fold; the same words to a receiver that never folds change nothing."""

    rank = {"J": 0, "Q": 1, "K": 2}

    def ordered(deal, message, action):
        stake = 1.0 if action == "FOLD" else 2.0 if rank[deal[0]] > rank[deal[1]] else -2.0
        return stake, -stake

    def timid(card, message):
        return {"FOLD" if "HOLD K" in message and card != "K" else "CALL": 1.0}

    bluff = cards(lambda card: {"I HOLD K": 1.0}, timid, ordered)
    found = deception(bluff, CLAIMS)
    # with J: Q folds and K calls, so (1 - 2) / 2 = -.5 against -2; with Q: J folds and K calls, -.5 against (2 - 2) / 2
    assert found.rate == pytest.approx(1 / 3)
    assert (found.speaker_gain, found.receiver_loss) == pytest.approx((0.5, 0.5))
    assert deception(cards(lambda card: {"I HOLD K": 1.0}, lambda c, m: {"CALL": 1.0}, ordered), CLAIMS).rate == 0.0
    assert deception(cards(lambda card: {"YOU HOLD J": 1.0}, timid, ordered), CLAIMS) is None


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
        talk_figures(Signalling({0: 1.0}, {0: {"A": 1.0}}, {}, lambda *_: (0.0, 0.0)), {})
    with pytest.raises(BadParameter, match="kuhn is not the sender-receiver game"):
        sender_receiver_figures("kuhn", "random", "random")


def test_meaning_of_a_statement_is_its_state():
    assert meanings(GAME)["STATE 3"] == Statement(frozenset({3}), "the state is")
    assert SILENT not in meanings(GAME)
