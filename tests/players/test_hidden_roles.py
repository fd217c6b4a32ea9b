"""Players of liar's dice and of the Resistance: probabilities of bids, and spies that settle who plays FAIL."""

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.measure.talk.collusion import collusion_of
from stratagem.players.catalogue import make_player
from stratagem.players.liars_dice import holds

TALK = "talk(resistance(missions=3), before=round, channel={channel}, intents=[move])"


@pytest.mark.parametrize(
    ("bid", "die", "probability"),
    [
        ("bid 1x5", 5, 1.0),
        ("bid 1x5", 6, 1.0),
        ("bid 1x5", 2, 1 / 3),
        ("bid 1x6", 2, 1 / 6),
        ("bid 2x5", 6, 1 / 3),
        ("bid 2x6", 6, 1 / 6),
        ("bid 2x5", 2, 0.0),
    ],
)
def test_probability_of_a_bid(bid, die, probability):
    assert holds(bid, die) == pytest.approx(probability)


def dice(own, *bids):
    """A position of the seat to move with this die after these bids."""
    game = make_game("liars-dice")
    for number in range(400):
        state = game.start(Key(number))
        for bid in bids:
            state.play({state.to_act[0]: bid})
        view = state.view(state.to_act[0])
        if view.facts.information.split()[0] == str(own):
            return view
    raise AssertionError("no such deal")


@pytest.mark.parametrize(
    ("own", "bids", "plays"),
    [
        (3, (), "bid 1x3"),
        (6, (), "bid 1x1"),
        (3, ("bid 2x4",), "liar"),
        (4, ("bid 2x4",), "liar"),
        (5, ("bid 1x5",), "bid 2x5"),
        (2, ("bid 1x1",), "liar"),
    ],
)
def test_probabilist_by_hand(own, bids, plays):
    view = dice(own, *bids)
    assert make_player("Probabilist", view.game).policy(view) == {plays: 1.0}


def test_honest_and_lying_seats_of_liars_dice():
    talk = make_game("talk(liars-dice, before=round, intents=[state])")
    view = talk.start(Key(0)).view(0)
    die = view.facts.inner.information.split()[0]
    assert make_player("honest(Probabilist)", talk).policy(view) == {f"My die is {die}": 1.0}
    assert len(make_player("liar(Probabilist)", talk).policy(view)) == 5


def test_the_lower_spy_tells_the_other_and_the_other_covers_it():
    state = make_game(TALK.format(channel="private")).start(Key(0))
    state.inner.spies = (1, 3)
    player = make_player("cabal(Deducer)", state.game)
    lines = {seat: next(iter(player.policy(state.view(seat)))) for seat in range(5)}
    assert lines == {0: "SILENT", 1: "TO player 3: I will play FAIL", 2: "SILENT", 3: "SILENT", 4: "SILENT"}
    state.play(lines)
    state.play({0: "PROPOSE 1 3"})
    state.play(dict.fromkeys(range(5), "APPROVE"))
    assert [player.policy(state.view(seat)) for seat in (1, 3)] == [{"FAIL": 1.0}, {"SUCCESS": 1.0}]


def test_a_confession_in_public_is_held_against_its_speaker():
    state = make_game(TALK.format(channel="public")).start(Key(0))
    state.inner.spies = (1, 3)
    player = make_player("cabal(Deducer)", state.game)
    state.play({seat: "I will play FAIL" if seat == 1 else "SILENT" for seat in range(5)})
    assert player.policy(state.view(0)) == {"PROPOSE 0 2": 1.0}
    state.play({0: "PROPOSE 0 1"})
    assert player.policy(state.view(2)) == {"REJECT": 1.0}


def test_spies_gain_in_private_and_lose_in_public():
    """Deducers of the resistance win 1 game of 5 against spies that both play FAIL, none if one does, all if told."""
    text = TALK.replace("missions=3", "missions=5")
    for channel, pair, others in (("private", 2.0, 0.0), ("public", 0.0, 3.0)):
        talk = make_game(text.format(channel=channel))
        found = collusion_of(talk, (make_player("cabal(Deducer)", talk),) * 3, (0, 1), 25, Key(0))
        assert (found.pair.talk.mean, found.others.talk.mean) == (pair, others)
        assert found.pair.gain.low <= pair - 1.6 <= found.pair.gain.high
        assert found.others.gain.low <= others - 0.6 <= found.others.gain.high
        if channel == "private":
            assert found.pair.gain.low > 0.0 > found.others.gain.high
            assert found.pair.null.low <= 0.0 <= found.pair.null.high


@pytest.mark.parametrize("game", ["talk(ipd)", "talk(auction(seats=3))"])
def test_a_cabal_plays_the_resistance_alone(game):
    with pytest.raises(BadParameter, match="around resistance"):
        make_player("cabal(random)", make_game(game))
