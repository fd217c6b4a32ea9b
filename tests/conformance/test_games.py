"""Every game of the catalogue, variants of the parametrised ones, and some of OpenSpiel's, against every check."""

import pickle

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games import make_game
from stratagem.games.catalogue import GAMES
from stratagem.games.conformance import verify
from stratagem.games.conformance.twins import twin
from stratagem.games.conformance.verify import RULES
from stratagem.games.conformance.walk import VerifiedGame
from stratagem.games.key import Key
from stratagem.playing.match import Match

VARIANTS = [
    "matrix(payoffs=[[(1, 0), (0, 1)], [(0, 1), (1, 0)]], rounds=3)",
    "matrix(payoffs=[[(2, 2)]], labels=('ONLY',), rounds=2)",
    "matrix(payoffs=[[(1, 1), (0, 0)], [(0, 0), (2, 2)]], rounds=4, cooperative=True)",
    "matrix(payoffs=[[(3, 1), (0, 2), (1, 1)], [(2, 0), (1, 3), (0, 0)]], labels=('UP', 'DOWN'), "
    "labels_second=('LEFT', 'MIDDLE', 'RIGHT'), rounds=3)",
    "ipd(rounds=1)",
    "ipd(continuation=0.7, rounds=12)",
    "imp(continuation=0.5)",
    "auction(rounds=1)",
    "auction(seats=3, rounds=2)",
    "public-goods(seats=2, rounds=3)",
    "public-goods(seats=5, multiplier=1.5, rounds=3)",
    "public-goods(rounds=3, fine=0.6)",
    "public-goods(rounds=2, multiplier=0)",
    "resistance(missions=1, attempts=1)",
    "talk(resistance(missions=1, attempts=2), before=round, channel=private)",
    "talk(auction(seats=3, rounds=1), channel=both)",
    "talk(liars-dice, before=round)",
    "negotiation-v1(rounds=1, pie=2)",
    "negotiation-v1(pie=100)",
    "negotiation-v2(most=1, rounds=2)",
    "negotiation-v2(most=9)",
    "kuhn(hands=1)",
    "kuhn(hands=7)",
]
SPIEL = [
    "spiel:kuhn_poker(players=3)",
    "spiel:leduc_poker(players=3)",
    "spiel:matrix_pd",
    "spiel:matrix_rps",
    "spiel:nim(pile_sizes=2;3)",
    "spiel:goofspiel(num_cards=3,players=3)",
    "spiel:oh_hell(players=3,num_suits=2,num_cards_per_suit=3)",
    "spiel:tiny_hanabi",
    "spiel:first_sealed_auction(players=3)",
    "spiel:phantom_ttt",
    "spiel:coin_game(rows=4,columns=4,episode_length=6)",
    "spiel:blotto(coins=3,fields=2)",
    "spiel:hex(board_size=3)",
    "spiel:backgammon",
]
TWO_POWERS, THREE_POWERS = (
    "diplomacy(until=1901, only=[FRANCE, GERMANY])",
    "diplomacy(until=1901, only=[TURKEY, RUSSIA, AUSTRIA], judged=False)",
)
EPISODES = {"pig": 3, "spiel:backgammon": 1, "ipd-shapellm": 6, "spiel:phantom_ttt": 6, "quiz": 3}
EPISODES |= dict.fromkeys(("diplomacy", TWO_POWERS, THREE_POWERS), 1)
"""Fewer where an episode is long."""
SHORTER = {"diplomacy": "diplomacy(until=1901)"}
"""Or a shorter game."""
NO_STATE_KEYS = "no two tables had the same keys"


DEAR = ("diplomacy", "spiel:backgammon")
SMALL = ("ipd", "auction", "negotiation-v1", "kuhn", "kuhn-spiel", "leduc", "nim", "goofspiel")
"""Games that are verified with more episodes, in which every check finds something to compare."""
OTHERS = (*(name for name in GAMES if name not in ("matrix", *SMALL)), *VARIANTS, *SPIEL, TWO_POWERS, THREE_POWERS)


@pytest.mark.parametrize(
    "text",
    [pytest.param(text, marks=[pytest.mark.runs] * (text in DEAR)) for text in OTHERS],
)
def test_it_conforms(text):
    report = verify(make_game(SHORTER.get(text, text)), episodes=EPISODES.get(text, 6))
    assert report.ok, str(report)


@pytest.mark.parametrize(
    "text",
    [*(name for name in GAMES if name != "matrix"), *VARIANTS, "sender-receiver(labels=2)"],
)
def test_match_can_be_sent_to_a_worker(text):
    game = make_game(text)
    match = Match(game, [None] * game.spec.seats)
    copy = pickle.loads(pickle.dumps(match))
    assert (copy.game, copy.text) == (match.game, match.text)
    assert type(copy.yardsticks) is type(match.yardsticks)
    assert type(copy.safety) is type(match.safety)


@pytest.mark.parametrize("name", SMALL)
def test_no_check_passes_for_want_of_cases(name):
    """In small games every check that applies finds something to compare."""
    report = verify(make_game(name), episodes=15)
    assert report.ok, str(report)
    spec = make_game(name).spec
    expected = {"chance"} if spec.chance else {"varies", "outcomes"}
    expected |= {"utility"} if spec.utility == "general-sum" else set()
    expected |= set() if spec.symmetric else {"symmetry"}
    expected |= set() if spec.markov else {"state-keys"}
    expected |= set() if spec.independent_rounds else {"rounds"}
    expected |= {"twin"} if make_game(name).twin() is None else set()
    expected |= {"positions"} if name == "negotiation-v1" else set()
    assert {check.name for check in report.checks if check.outcome == "skipped"} == expected
    met = int(report["hidden"].detail.split(" information sets")[0].split()[-1])
    assert met > 15


def test_kuhn_by_hand_is_openspiels_in_every_position():
    """Six deals with nine positions each; and 300 random hands, every deal among them."""
    assert twin(VerifiedGame(make_game("kuhn"), 300, Key(0))) == "300 episodes and all 54 positions"


def redraws(text):
    """Return whether a game hides something and can redraw it."""
    game = make_game(text)
    try:
        game.start(Key(0)).resample(0, Key(1))
    except CannotCompute:
        return False
    return game.spec.private_information


REDRAWING = [text for text in GAMES if text != "matrix" and redraws(text)]


def test_redrawing_games_are_those_with_a_private_deal():
    assert {"auction", "negotiation-v2", "kuhn", "kuhn-spiel", "leduc", "bargaining"} <= set(REDRAWING)


HIDDEN = [rule for rule in RULES if rule.name == "hidden"]
"""No other check redraws anything, and all of them pass where these games conform."""


@pytest.mark.parametrize("text", REDRAWING)
def test_hidden_check_fails_where_nothing_is_redrawn(text, monkeypatch):
    game = make_game(text)
    monkeypatch.setattr(type(game.start(Key(0))), "resample", lambda self, seat, chance: self.fork(chance))
    assert verify(game, episodes=6, rules=HIDDEN).failed
