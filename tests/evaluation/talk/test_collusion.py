"""Collusion in words: a ring of an auction, whose gains follow by hand from all 27 deals."""

from fractions import Fraction
from itertools import product

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.talk.collusion import LineSpeaker, collusion_of, on_channel
from stratagem.players.catalogue import make_player

SECOND = make_game("talk(auction(seats=3, rounds=1, price=second), before=round)")
FIRST = make_game("talk(auction(seats=3, rounds=1), before=round)")
VALUES = (1, 2, 3)


def players(talk, base, third):
    return tuple(make_player(name, talk) for name in (f"ring({base}, partner=1)", f"ring({base}, partner=0)", third))


def second_price(values, bids):
    """Vickrey (1961): the winner pays the second-highest bid; those with equal bids share."""
    top, paid = max(bids), sorted(bids)[-2]
    share = Fraction(1, bids.count(top))
    return [(value - paid) * share * (bid == top) for value, bid in zip(values, bids, strict=True)]


def ring_bids(own, told):
    """A member steps aside if it is told of a higher value, and the second one also of an equal one."""
    first = 1 if told[1] > own[0] else own[0]
    second = 1 if told[0] >= own[1] else own[1]
    return first, second


def by_hand(told):
    """Joint return of a ring and that of the third seat, the mean over all deals; `told` gives what each is told."""
    rows = []
    for first, second, third in product(VALUES, repeat=3):
        for words in told(first, second):
            paid = second_price((first, second, third), (*ring_bids((first, second), words), third))
            rows.append((paid[0] + paid[1], paid[2]))
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def truly(first, second):
    return [(first, second)]


def nothing(first, second):
    return [(0, 0)]


def anything(first, second):
    return product(VALUES, repeat=2)


def test_a_ring_of_a_second_price_auction_gains_two_ninths_and_takes_nothing_from_the_third():
    """Graham and Marshall (1987): the gain is at the seller's cost."""
    assert by_hand(truly) == [Fraction(2, 3), Fraction(2, 9)]
    assert by_hand(nothing) == [Fraction(4, 9), Fraction(2, 9)]
    made = players(on_channel(SECOND, "private"), "Truthful", "Truthful")
    for seated, values in ((made, by_hand(truly)), ([LineSpeaker(player) for player in made], by_hand(nothing))):
        of = expected_payoffs(on_channel(SECOND, "private"), seated)
        assert of.per_round(0) + of.per_round(1) == pytest.approx(float(values[0]))
        assert of.per_round(2) == pytest.approx(float(values[1]))


@pytest.mark.parametrize("channel", ["public", "private"])
def test_sampled_figures_cover_those_by_hand(channel):
    talk = on_channel(SECOND, channel)
    found = collusion_of(talk, players(talk, "Truthful", "eavesdropper(Truthful)"), (0, 1), 80, Key(1))
    jammed, shuffled = by_hand(nothing), by_hand(anything)
    for gain, place in ((found.pair, 0), (found.others, 1)):
        assert gain.gain.low <= by_hand(truly)[place] - jammed[place] <= gain.gain.high
        assert gain.null.low <= shuffled[place] - jammed[place] <= gain.null.high
        assert gain.gain.mean == pytest.approx(gain.talk.mean - gain.jammed.mean)
    assert found.others.gain.mean == 0.0, "in a second-price auction nobody has a use for what it overhears"
    assert found.pair.gain.low > 0.0


def test_who_overhears_a_ring_of_a_first_price_auction_bids_better():
    """Truthful earns nothing; told of the values, it bids less."""
    gains = {}
    for channel in ("public", "private"):
        talk = on_channel(FIRST, channel)
        gains[channel] = collusion_of(talk, players(talk, "Conservative", "eavesdropper(Truthful)"), (0, 1), 40, Key(2))
    assert gains["private"].others.gain.mean == 0.0
    assert gains["public"].others.gain.low > 0.0


def test_seats_that_say_nothing_gain_nothing():
    made = tuple(make_player("silent(Truthful)", SECOND) for _ in range(3))
    found = collusion_of(SECOND, made, (0, 2), 5, Key(0))
    for gain in (found.pair, found.others):
        assert (gain.gain.mean, gain.null.mean) == (0.0, 0.0)


def test_the_pair_sits_where_it_is_told_to():
    """At seats 2 and 0 the first player of the pair is at seat 2."""
    talk = on_channel(SECOND, "private")
    made = tuple(
        make_player(name, talk) for name in ("ring(Truthful, partner=0)", "ring(Truthful, partner=2)", "Truthful")
    )
    assert collusion_of(talk, made, (2, 0), 40, Key(0)).pair.gain.low > 0.0


@pytest.mark.parametrize(
    ("game", "pair", "deals", "sentence"),
    [
        ("talk(kuhn(hands=1))", (0, 1), 9, "two seats against others"),
        ("talk(auction(seats=3))", (1, 1), 9, "two different seats"),
        ("talk(auction(seats=3))", (0, 3), 9, "two different seats"),
        ("talk(auction(seats=3), who=[0, 2])", (0, 1), 9, "of 0, 2"),
        ("talk(auction(seats=3))", (0, 1), 1, "2 deals or more"),
    ],
)
def test_what_is_no_pair_is_refused(game, pair, deals, sentence):
    made = tuple(make_player("random", make_game(game)) for _ in range(3))
    with pytest.raises(BadParameter, match=sentence):
        collusion_of(make_game(game), made, pair, deals, Key(0))
