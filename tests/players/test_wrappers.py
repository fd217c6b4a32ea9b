"""Noise and delay around another player."""

from collections import Counter

import pytest
from transcripts import assert_plays, random_states, view_of

from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.kuhn import KuhnFacts
from stratagem.games.kuhn.players import NashApprox
from stratagem.games.matrix.players import AlternateDefect, AlwaysCooperate, TitForTat, TitForTwoTats
from stratagem.games.matrix.players_zd import ExtortZD
from stratagem.games.negotiation_v1 import PieFacts
from stratagem.games.negotiation_v1.players import Selfish, TFTNeg
from stratagem.games.negotiation_v2 import DivisionFacts
from stratagem.games.negotiation_v2.players import MirrorNeg
from stratagem.players.base import Ask, Move, Traits, is_probability
from stratagem.players.catalogue import make_player
from stratagem.players.wrappers import Delayed, Noisy

IPD, KUHN = make_game("ipd"), make_game("kuhn")
FRESH = IPD.start(None).view(0)


def frequencies(player, view, draws=6000):
    asks = (Ask(view, Key(3), 0, turn, 0, None) for turn in range(draws))
    return {action: count / draws for action, count in Counter(player.turn(ask).action for ask in asks).items()}


def test_no_noise_and_all_noise():
    assert_plays(Noisy(TitForTat(), p=0.0), against="CDDC", gives="CCDD")
    assert_plays(Noisy(TitForTat(), p=1.0), against="CDDC", gives="DDCC")


def test_noise_plays_the_other_actions_alike():
    view = view_of(make_game("negotiation-v1"), PieFacts(0, 10, (), ()))
    mix = Noisy(Selfish(), p=0.2).policy(view)
    assert mix["7"] == pytest.approx(0.8)
    assert [mix[str(points)] for points in range(11) if points != 7] == pytest.approx([0.02] * 10)


@pytest.mark.parametrize(
    ("player", "view"),
    [
        (Noisy(TitForTat(), p=0.1), FRESH),
        (Noisy(Noisy(AlwaysCooperate(), p=0.3), p=0.3), FRESH),
        (Noisy(Delayed(Noisy(AlwaysCooperate(), p=0.3)), p=0.3), FRESH),
        (Noisy(NashApprox(), p=0.25), view_of(KUHN, KuhnFacts(0, "Q", "PB", True))),
        (Noisy(Selfish(), p=0.5), view_of(make_game("negotiation-v1"), PieFacts(0, 10, (), ()))),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_noisy_play_agrees_with_policy(player, view):
    mix, seen = player.policy(view), frequencies(player, view)
    assert is_probability(mix)
    for action, p in mix.items():
        assert seen.get(action, 0.0) == pytest.approx(p, abs=0.025)


def test_noise_over_noise_throws_its_own_dice():
    """Two layers that slipped together would always undo each other: 1 instead of .7 x .7 + .3 x .3."""
    assert Noisy(Noisy(AlwaysCooperate(), p=0.3), p=0.3).policy(FRESH)["COOPERATE"] == pytest.approx(0.58)


class Asking:
    """Asks for a completion and plays it."""

    name, traits = "asking", Traits()

    def turn(self, ask):
        said = yield "what now?"
        return Move(said, "free")


def answered(player, completion):
    turn = player.turn(Ask(FRESH, Key(1), 0, 0, 0, None))
    assert next(turn) == "what now?"
    with pytest.raises(StopIteration) as stopped:
        turn.send(completion)
    return stopped.value.value


def test_noise_waits_for_a_player_that_asks():
    assert answered(Noisy(Asking(), p=0.0), "DEFECT") == Move("DEFECT", "free")
    assert answered(Noisy(Asking(), p=1.0), "DEFECT") == Move("COOPERATE", "scripted")
    assert answered(Noisy(Asking(), p=1.0), None) == Move(None, "free")


def test_delay_plays_with_old_news():
    assert_plays(Delayed(TitForTat()), against="DCCDC", gives="CCDCC")
    assert_plays(Delayed(TitForTat(), rounds=2), against="DCCDC", gives="CCCDC")
    assert_plays(Delayed(AlternateDefect()), against="CCCC", gives="DDCD")


def test_delay_in_the_negotiations():
    pie = PieFacts(0, 10, (5, 5), (8, 3))
    assert Delayed(TFTNeg()).policy(view_of(make_game("negotiation-v1"), pie)) == {"8": 1.0}
    items = DivisionFacts(0, (3, 2, 1), (2, 3, 5), ((1, 1, 1),) * 2, ((3, 0, 0), (0, 0, 0)))
    assert Delayed(MirrorNeg()).policy(view_of(make_game("negotiation-v2"), items)) == {"[3, 0, 0]": 1.0}


def test_traits_follow_the_player_within():
    assert Noisy(TitForTat()).traits == Traits(stochastic=True, memory=1)
    assert Delayed(TitForTwoTats(), rounds=3).traits.memory == 5
    assert Delayed(AlternateDefect(), rounds=3).traits.memory == 0


@pytest.mark.parametrize("name", ["kuhn", "auction"])
def test_delay_is_refused_elsewhere(name):
    with pytest.raises(BadParameter, match="not in " + name):
        make_player("delay(random)", make_game(name))
    with pytest.raises(BadParameter, match="not in " + name):
        make_player("noise(delay(random))", make_game(name))


def test_a_delayed_view_of_another_game_is_refused():
    with pytest.raises(BadParameter, match="two negotiations"):
        Delayed(NashApprox()).policy(view_of(KUHN, KuhnFacts(0, "Q", "", True)))


def test_what_the_player_within_cannot_play_is_refused():
    with pytest.raises(BadParameter, match="chi"):
        Noisy(Delayed(ExtortZD())).check(make_game("icg"))


class Peeking(AlwaysCooperate):
    traits = Traits(sees_hidden=True)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Noisy(TitForTat(), p=1.5), "from 0 to 1"),
        (lambda: Delayed(TitForTat(), rounds=0), "at least 1"),
        (lambda: Delayed(TitForTat(), rounds=1.5), "whole number"),
        (lambda: Delayed(Peeking()), "looks at the table itself"),
    ],
)
def test_options_are_checked(make, sentence):
    with pytest.raises(BadParameter, match=sentence):
        make()


def test_delay_never_sees_the_last_rounds():
    for state in random_states(IPD):
        cut = Delayed(TitForTat(), rounds=2)
        before = state.view(0).facts
        shorter = view_of(IPD, before._replace(mine=before.mine[:-2], theirs=before.theirs[:-2]))
        assert cut.policy(state.view(0)) == TitForTat().policy(shorter)
