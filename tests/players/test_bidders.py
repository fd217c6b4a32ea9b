"""Bidders: the tier in known situations, worked out by hand from SEPO's rules."""

from fractions import Fraction
from itertools import product

import pytest
from transcripts import play, view_of

from stratagem.games.auction import BIDS, AuctionFacts, PastRound
from stratagem.games.auction import players as bidders
from stratagem.games.catalogue import make_game
from stratagem.players.base import Move

GAME = make_game("auction")
LOSS, TIE, WIN = (2, 1, 2), (2, 2, 2), (3, 2, 1)
"""A round: own value, own bid, the other's bid."""


def bid(player, value, *past):
    """The tier that is bid for certain."""
    rows = tuple(PastRound(v, b, (other,), 0.0) for v, b, other in past)
    mix = player.policy(view_of(GAME, AuctionFacts(0, len(past), value, rows)))
    assert len(mix) == 1
    return 1 + BIDS.index(next(iter(mix)))


@pytest.mark.parametrize(
    ("name", "tiers"),
    [
        ("ValueBid", [1, 2, 3]),
        ("Truthful", [1, 2, 3]),
        ("Conservative", [1, 1, 2]),
        ("Adaptive", [1, 1, 2]),
        ("AggressiveValue", [1, 2, 3]),
        ("AggressiveBid", [3, 3, 3]),
        ("CollusiveLow", [1, 1, 1]),
        ("FlatMedium", [2, 2, 2]),
        ("Sniper", [1, 1, 3]),
        ("Matcher", [1, 1, 2]),
        ("Overbidder", [1, 1, 2]),
        ("FictitiousPlay", [1, 1, 2]),
        ("LowMedium", [1, 2, 2]),
        ("MarginPlay", [1, 1, 2]),
    ],
)
def test_opening_bids_at_values_one_to_three(name, tiers):
    assert [bid(getattr(bidders, name)(), value) for value in (1, 2, 3)] == tiers


@pytest.mark.parametrize(
    ("past", "tiers"),
    [
        ([LOSS], [1, 2, 3]),
        ([LOSS, TIE], [1, 2, 3]),
        ([LOSS, TIE, WIN], [1, 1, 2]),
        ([WIN, LOSS], [1, 2, 3]),
        ([TIE], [1, 1, 2]),
    ],
)
def test_adaptive_is_raised_from_a_loss_until_a_win(past, tiers):
    assert [bid(bidders.Adaptive(), value, *past) for value in (1, 2, 3)] == tiers


@pytest.mark.parametrize(
    ("past", "tiers"), [([LOSS], [2, 3, 3]), ([LOSS, WIN], [1, 2, 3]), ([LOSS, TIE], [1, 2, 3]), ([TIE], [1, 2, 3])]
)
def test_aggressive_value_goes_above_value_right_after_a_loss(past, tiers):
    assert [bid(bidders.AggressiveValue(), value, *past) for value in (1, 2, 3)] == tiers


def test_shaded_has_even_odds_where_it_has_two_bids():
    def mix(value):
        return bidders.Shaded().policy(view_of(GAME, AuctionFacts(0, 0, value, ())))

    assert mix(1) == {"LOW": 1.0}
    assert mix(2) == {"LOW": 0.5, "MEDIUM": 0.5}
    assert mix(3) == {"MEDIUM": 0.5, "HIGH": 0.5}


def test_matcher_and_overbidder_follow_the_last_bid_up_to_their_value():
    assert [bid(bidders.Matcher(), value, (3, 1, 2)) for value in (1, 2, 3)] == [1, 2, 2]
    assert [bid(bidders.Overbidder(), value, (3, 1, 2)) for value in (1, 2, 3)] == [1, 2, 3]


def test_fictitious_play_replies_to_the_bids_seen():
    """At value 3: against MEDIUM a shared win earns 1/2; against LOW a shared 2 and a full 1 are equal, so LOW."""
    player = bidders.FictitiousPlay()
    assert bid(player, 3, (1, 1, 2), (1, 1, 2)) == 2
    assert bid(player, 3, (1, 1, 1)) == 1
    assert bid(player, 3, (1, 1, 1), (1, 1, 2)) == 2
    assert bid(player, 1, (1, 1, 3)) == 1


def test_fictitious_play_shares_with_every_equal_bid():
    facts = AuctionFacts(0, 1, 3, (PastRound(1, 1, (1, 1), 0.0),))
    assert bidders.FictitiousPlay().policy(view_of(make_game("auction(seats=3)"), facts)) == {"MEDIUM": 1.0}


def test_margin_play_replies_to_the_bids_seen_by_the_difference_of_pays():
    """At value 3 against LOW, a win at MEDIUM has margin 1, a tie 1/2; against HIGH no win pays at values 1 and 2."""
    player = bidders.MarginPlay()
    assert bid(player, 3, (1, 1, 1)) == 2
    assert bid(player, 3, (1, 1, 2)) == 2
    assert bid(player, 1, (1, 1, 3)) == 1
    assert bid(player, 2, (1, 1, 3)) == 1


def _margin_per_round(bidder, other):
    """Return the static bidder's expected advantage, by enumeration of both values."""
    total = Fraction(0)
    for value, theirs in product((1, 2, 3), repeat=2):
        own_bid, their_bid = bid(bidder, value), bid(other, theirs)
        share = Fraction(1, 2) if own_bid == their_bid else Fraction(own_bid > their_bid)
        total += share * (value - own_bid) - (1 - share) * (theirs - their_bid)
    return total / 9


def test_aggressive_bid_earns_more_than_nobody():
    """The reason why the exploit pool has adversaries that SEPO does not list."""
    others = (bidders.Truthful(), bidders.Conservative(), bidders.CollusiveLow(), bidders.Sniper())
    assert all(_margin_per_round(bidders.AggressiveBid(), other) <= 0 for other in others)


def test_low_medium_takes_most_from_who_always_bids_low():
    """A sixth of a point a round, the most that any static bids take from it."""

    class Fixed(bidders.Bidder):
        def __init__(self, tiers):
            self.tiers = tiers

        def bid(self, facts):
            return self.tiers[facts.value - 1]

    low = bidders.CollusiveLow()
    best = max(_margin_per_round(Fixed(tiers), low) for tiers in product((1, 2, 3), repeat=3))
    assert _margin_per_round(bidders.LowMedium(), low) == best == Fraction(1, 6)
    assert _margin_per_round(bidders.LowMedium(), bidders.Conservative()) == 0


def test_conservative_is_an_equilibrium_of_the_single_round():
    """Against itself it bids LOW two times in three and MEDIUM once: no value earns more with another bid."""
    others = {1: Fraction(2, 3), 2: Fraction(1, 3)}

    def earns(value, own):
        shares = ((p, 1 if own > other else Fraction(own == other, 2)) for other, p in others.items())
        return sum(p * share * (value - own) for p, share in shares)

    for value in (1, 2, 3):
        best = max(earns(value, own) for own in (1, 2, 3))
        assert earns(value, bid(bidders.Conservative(), value)) == best


class _High:
    def turn(self, ask):
        return Move("HIGH")


def test_adaptive_at_the_table_bids_its_value_for_ever_after_losing_to_high():
    """It loses the first round, and a tie at HIGH is no win that would bring it back."""
    game = make_game("auction(rounds=20)")

    def bids(player):
        return [moves[0] for moves in play(game, [player, _High()], seed=5)[0]]

    adaptive, conservative, value = (
        bids(player) for player in (bidders.Adaptive(), bidders.Conservative(), bidders.ValueBid())
    )
    assert adaptive == conservative[:1] + value[1:]
    assert set(adaptive) == set(BIDS)
