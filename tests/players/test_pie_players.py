"""Negotiators over a pie: their demands round by round, worked out by hand from SEPO's rules."""

import pytest
from transcripts import play, view_of

from stratagem.games.catalogue import make_game
from stratagem.games.negotiation_v1 import PieFacts
from stratagem.games.negotiation_v1 import players as negotiators
from stratagem.players.base import Move

GAME = make_game("negotiation-v1")


class Demands:
    """Demands these points, round after round."""

    def __init__(self, *points):
        self.points = points

    def turn(self, ask):
        return Move(str(self.points[ask.turn]))


@pytest.mark.parametrize(
    ("name", "against", "gives"),
    [
        ("FairSplit", (9, 0, 5, 10), (5, 5, 5, 5)),
        ("Fair", (9, 0, 5, 10), (5, 5, 5, 5)),
        ("Balanced", (4, 4, 4, 4), (6, 6, 6, 6)),
        ("Balanced", (4, 5, 0, 0), (6, 6, 5, 5)),
        ("Concede", (5, 5, 5, 5), (7, 6, 5, 4)),
        ("Selfish", (5, 0, 9, 2), (7, 7, 7, 7)),
        ("Hardball", (5, 0, 9, 2), (8, 8, 8, 8)),
        ("Hard", (5, 0, 9, 2), (8, 8, 8, 8)),
        ("TFTNeg", (8, 3, 0, 5), (5, 8, 3, 0)),
        ("TakeAll", (5, 0, 9, 2), (10, 10, 10, 10)),
        ("BestReply", (8, 3, 0, 5), (5, 2, 7, 10)),
        ("FictitiousPlay", (6, 2, 6, 2), (5, 4, 4, 4)),
        ("FictitiousPlay", (9, 2, 2, 2), (5, 1, 8, 8)),
        ("GrimSplit", (5, 6, 5, 0), (5, 5, 8, 8)),
        ("Nibbler", (5, 5, 3, 3), (5, 6, 5, 6)),
    ],
)
def test_transcript(name, against, gives):
    player = getattr(negotiators, name)()
    for seat in (0, 1):
        players = [Demands(*against), Demands(*against)]
        players[seat] = player
        actions, _ = play(GAME, players)
        assert tuple(int(moves[seat]) for moves in actions) == gives


def test_concede_stays_at_four():
    facts = PieFacts(0, 10, (1,) * 7, (1,) * 7)
    assert negotiators.Concede().policy(view_of(make_game("negotiation-v1(rounds=9)"), facts)) == {"4": 1.0}


def test_demands_scale_with_the_pie():
    game = make_game("negotiation-v1(pie=100)")
    facts = PieFacts(0, 100, (), ())
    assert negotiators.Hardball().policy(view_of(game, facts)) == {"80": 1.0}


def test_nibbler_stays_within_the_pie():
    assert negotiators.Nibbler().demand(PieFacts(0, 10, (10,), (0,))) == 10
    assert negotiators.Nibbler().demand(PieFacts(0, 10, (0,), (11,))) == 0


def test_published_name():
    assert negotiators.TFTNeg().name == "negotiation-v1/TFT-Neg"
