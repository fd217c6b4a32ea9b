"""Players that look at nothing but what is legal; sheets are drawn slot by slot."""

from collections import Counter
from types import SimpleNamespace

import pytest
from transcripts import random_states

from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.players.base import Ask, is_probability
from stratagem.players.uniform import FirstLegal, Random, RandomLegal

SHEETS = [
    Sheet([Slot("A", ("a hold", "a north")), Slot("B", ("b hold", "b north", "b south"))]),
    Sheet([Slot("A", ("a",)), Slot("B", ("b1", "b2")), Slot("C", ("c1", "c2", "c3"))], fill=2),
    Sheet([Slot("A", ("a", "waive")), Slot("B", ("b", "waive"))], fill=1),
]


def frequencies(player, view, draws=6000):
    asks = (Ask(view, Key(9), 0, turn, 0, None) for turn in range(draws))
    return {action: count / draws for action, count in Counter(player.turn(ask).action for ask in asks).items()}


@pytest.mark.parametrize("choices", [Flat("abc"), *SHEETS])
def test_play_agrees_with_policy(choices):
    view = SimpleNamespace(choices=choices)
    mix, seen = Random().policy(view), frequencies(Random(), view)
    assert is_probability(mix)
    assert set(mix) == set(seen)
    for action, p in mix.items():
        assert seen[action] == pytest.approx(p, abs=0.025)


def test_policy_of_a_sheet_by_hand():
    assert Random().policy(SimpleNamespace(choices=SHEETS[2])) == {"a": 0.25, "waive": 0.5, "b": 0.25}
    mix = Random().policy(SimpleNamespace(choices=SHEETS[1]))
    assert mix["a\nb1"] == pytest.approx(1 / 6)
    assert mix["b2\nc3"] == pytest.approx(1 / 18)


def test_a_policy_too_long_to_list_is_refused():
    huge = Sheet([Slot(str(n), (f"{n} left", f"{n} right")) for n in range(13)])
    assert Random().turn(Ask(SimpleNamespace(choices=huge), Key(1), 0, 0, 0, None)).action in huge
    with pytest.raises(CannotCompute, match="8192 legal actions are too many"):
        Random().policy(SimpleNamespace(choices=huge))


def test_names():
    assert (Random().name, RandomLegal().name, FirstLegal().name) == ("random", "kuhn/RandomLegal", "first-legal")


@pytest.mark.parametrize("name", ["ipd", "auction", "kuhn", "negotiation-v1", "negotiation-v2"])
def test_first_legal_plays_the_first(name):
    for state in random_states(make_game(name)):
        for seat in state.to_act:
            view = state.view(seat)
            assert FirstLegal().policy(view) == {next(iter(view.choices)): 1.0}
