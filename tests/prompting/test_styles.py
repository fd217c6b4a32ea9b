"""Every style on every game it serves, and ShapeLLM's three prompts word for word where words matter."""

from itertools import islice

import pytest

from stratagem.cli.prompt import views
from stratagem.errors import BadParameter, UnknownName
from stratagem.games import Key, make_game
from stratagem.games.catalogue import GAMES
from stratagem.games.matrix import MatrixGame
from stratagem.prompting.base import NOTHING, Past
from stratagem.prompting.catalogue import make_style, style_names

PLAYABLE = [make_game(name) for name in GAMES if name != "matrix"]


def seen(game, turns=12, seed=3):
    return list(islice(views(game.start(Key(seed).at("chance")), Key(seed), turns), turns))


def serves(style, game):
    return isinstance(game, MatrixGame) or not style.startswith("shapellm")


@pytest.mark.parametrize("style", style_names())
def test_prompts_tell_what_the_seat_sees_and_begin_alike(style):
    words = make_style(style)
    for game in PLAYABLE:
        if not serves(style, game):
            continue
        for seat in range(game.spec.seats):
            prompts = ["\n".join(m.content for m in words.messages(v)) for v in seen(game) if v.seat == seat]
            assert all(prompt.strip() for prompt in prompts)
            rules = game.rules(seat) if not style.startswith("shapellm") else game.story
            for prompt in prompts:
                assert rules in prompt
                assert prompt[: prompt.index(rules) + len(rules)] == prompts[0][: prompts[0].index(rules) + len(rules)]


@pytest.mark.parametrize("style", ["plain", "reasoned", "gtbench", "gtbench-reasoned"])
def test_the_situation_follows_the_rules_and_the_choices_come_last(style):
    for game in PLAYABLE:
        for view in seen(game, turns=4):
            text = "\n".join(message.content for message in make_style(style).messages(view))
            assert text.index(view.rules) < text.index(view.situation) < text.rindex(view.choices.first)


def last(style, moves, seat=0, game="ipd-shapellm", past=NOTHING):
    made = make_game(game)
    state = made.start(Key(0))
    for first, second in moves:
        state.play({0: first, 1: second})
    (message,) = make_style(style).messages(state.view(seat), past)
    return message.content


def test_base_shows_no_play_and_state_the_last_pair_only():
    assert last("shapellm-base", ["CD", "DD"]) == last("shapellm-base", [])
    assert last("shapellm-state", []) == last("shapellm-base", [])
    shown = last("shapellm-state", ["CC", "CD"])
    assert "you played C, they played D" in shown
    assert shown == last("shapellm-state", ["DD", "CD"])
    assert "you played D, they played C" in last("shapellm-state", ["CD"], seat=1)


def test_occurrence_counts_the_trial_and_leaves_the_last_round_out():
    assert last("shapellm-occurrence", ["CD"]) == last("shapellm-state", ["CD"])
    shown = last("shapellm-occurrence", ["CC", "CD", "CD", "DD"])
    assert "C/C 1, C/D 2, D/C 0, D/D 0" in shown
    assert "you played D, they played D" in shown
    earlier = Past({"C/C": 40, "D/C": 3})
    assert "C/C 41, C/D 0, D/C 3, D/D 0" in last("shapellm-occurrence", ["CC", "DD"], past=earlier)


def test_payoffs_are_the_seats_own_as_sentences_or_as_a_table():
    assert "If you play C and they play C, you get 6 and they get 3." in last("shapellm-base", [], game="c-ipd")
    assert "If you play C and they play C, you get 3 and they get 6." in last("shapellm-base", [], 1, "c-ipd")
    table = last("shapellm-base(payoffs=table)", [])
    assert "| C | D | 0 | 4 |" in table
    assert "If you play" not in table


def test_switched_order_turns_every_list_round():
    switched = last("shapellm-state(switched=True)", ["CD"])
    assert "Each round both choose D or C." in switched
    assert switched.endswith("Reply with D or C only.")
    assert switched.index("you play D and they play D") < switched.index("you play C and they play C")


def test_seats_with_labels_of_their_own_are_told_both():
    game = "matrix(payoffs=[[(1, 0), (0, 1)]], labels=[X], labels_second=[N, M])"
    assert "you choose X and they choose N or M" in last("shapellm-base", [], game=game)
    assert "you choose N or M and they choose X" in last("shapellm-base", [], 1, game)


def test_many_choices_are_cut_short_in_plain_and_whole_in_gtbench():
    (view,) = seen(make_game("negotiation-v2(most=9)"), turns=1)
    assert "more" in make_style("plain").messages(view)[-1].content
    assert make_style("gtbench").messages(view)[-1].content.count("<[") == view.choices.count


def test_mistakes_are_one_sentence():
    with pytest.raises(UnknownName, match="did you mean plain"):
        make_style("plan")
    with pytest.raises(BadParameter, match="payoffs=sentences or table"):
        make_style("shapellm-base(payoffs=prose)")
    with pytest.raises(BadParameter, match="repeated matrix games, not kuhn"):
        make_style("shapellm-base").messages(seen(make_game("kuhn"), turns=1)[0])
