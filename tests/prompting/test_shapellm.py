"""ShapeLLM's three prompts, word for word where words matter, and their variants."""

from itertools import product

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.language.prompting.catalogue import make_style
from stratagem.language.prompting.past import NOTHING, Past

BY_SEAT = "icg(labels=[S,G], labels_second=[N,M])"
WIDE = "matrix(payoffs=[[(1, 0), (0, 1)]], labels=[X], labels_second=[N, M])"


def seen(moves, seat=0, game="ipd-shapellm"):
    state = make_game(game).start(Key(0))
    for first, second in moves:
        state.play({0: first, 1: second})
    return state.view(seat)


def last(style, moves, seat=0, game="ipd-shapellm", past=NOTHING):
    (message,) = make_style(style).messages(seen(moves, seat, game), past)
    return message.content


def remembered(**counts):
    """A past of these counts, the last named being the last played."""
    joints = {tuple(name): count for name, count in counts.items()}
    return Past(joints, list(joints)[-1], sum(counts.values()))


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
    earlier = remembered(CC=40, DC=3)
    assert "C/C 41, C/D 0, D/C 3, D/D 0" in last("shapellm-occurrence", ["CC", "DD"], past=earlier)


def test_a_later_episode_goes_on_from_the_last_round_of_the_one_before():
    earlier = remembered(CC=40, DC=3)
    shown = last("shapellm-occurrence", [], past=earlier)
    assert "C/C 40, C/D 0, D/C 2, D/D 0" in shown
    assert "Last round you played D, they played C." in shown
    assert shown == last("shapellm-occurrence", ["CC"] * 40 + ["DC"] * 3, game="ipd-shapellm(rounds=50)")
    assert "C/C 40, C/D 0, D/C 3, D/D 0" in last("shapellm-occurrence", ["CC"], past=earlier)
    assert last("shapellm-occurrence", [], past=remembered(DC=1)) == last("shapellm-state", ["DC"])


@pytest.mark.parametrize("moves", [[], ["CD"], ["CD", "DD"]])
def test_base_and_state_tell_of_this_episode_only(moves):
    for style in ("shapellm-base", "shapellm-state"):
        assert last(style, moves, past=remembered(CC=40)) == last(style, moves)
        assert not make_style(style).recalls
    assert make_style("shapellm-occurrence").recalls


@pytest.mark.parametrize("joint", [("C", "X"), ("X", "C"), ("C",), ("C", "C", "C")])
def test_a_past_of_another_game_is_refused(joint):
    with pytest.raises(BadParameter, match="is no joint action of this game: its own are C, D"):
        last("shapellm-occurrence", [], past=Past({joint: 1}, joint, 1))


def test_payoffs_are_the_seats_own_as_sentences_or_as_a_table():
    assert "If you play C and they play C, you get 6 and they get 3." in last("shapellm-base", [], game="c-ipd")
    assert "If you play C and they play C, you get 3 and they get 6." in last("shapellm-base", [], 1, "c-ipd")
    table = last("shapellm-base(payoffs=table)", [])
    assert "| C | D | 0 | 4 |" in table
    assert "If you play" not in table


MATRIX = """\
| | C | D |
|---|---|---|
| C | ({first}, {second}) | (0, 4) |
| D | (4, 0) | (1, 1) |
"""


@pytest.mark.parametrize(("seat", "first", "second"), [(0, 6, 3), (1, 3, 6)])
def test_a_matrix_has_the_seats_own_actions_as_rows(seat, first, second):
    assert MATRIX.format(first=first, second=second) in last("shapellm-base(payoffs=matrix)", [], seat, "c-ipd")
    shown = last("shapellm-base(payoffs=matrix, switched=True)", [], seat, "c-ipd")
    assert f"| | D | C |\n|---|---|---|\n| D | (1, 1) | (4, 0) |\n| C | (0, 4) | ({first}, {second}) |" in shown
    wide = last("shapellm-base(payoffs=matrix)", [], 0, WIDE)
    assert "| | N | M |\n|---|---|---|\n| X | (1, 0) | (0, 1) |" in wide


def test_switched_order_turns_the_rules_round_and_not_the_question():
    switched = last("shapellm-state(switched=True)", ["CD"])
    assert "Each round both choose D or C." in switched
    assert switched.endswith("Reply with C or D only.")
    cells = [switched.index(f"If you play {a} and they play {b}") for a, b in product("DC", "DC")]
    assert cells == sorted(cells)
    assert "C/C 1, C/D 0, D/C 0, D/D 0" in last("shapellm-occurrence(switched=True)", ["CC", "CD"])


def test_the_rules_may_be_a_system_message():
    (whole,) = make_style("shapellm-occurrence").messages(seen(["CC", "CD"]))
    system, user = make_style("shapellm-occurrence(system=True)").messages(seen(["CC", "CD"]))
    assert (system.role, user.role) == ("system", "user")
    assert f"{system.content}\n{user.content}" == whole.content
    assert user.content.startswith("How often")


def test_seats_with_labels_of_their_own_are_told_both():
    assert "you choose X and they choose N or M" in last("shapellm-base", [], game=WIDE)
    assert "you choose N or M and they choose X" in last("shapellm-base", [], 1, WIDE)


@pytest.mark.parametrize("shows", ["base", "state", "occurrence"])
@pytest.mark.parametrize("variant", ["", "payoffs=table", "payoffs=matrix", "switched=True"])
@pytest.mark.parametrize(("seat", "own"), [(0, "SG"), (1, "NM")])
def test_own_labels_show_a_seat_the_game_as_if_both_had_its_labels(shows, variant, seat, own):
    options = ", ".join(filter(None, ("own_labels=True", variant)))
    played = [(0, 0), (0, 1), (1, 0), (0, 1)]
    moves, alike = [("SG"[i], "NM"[j]) for i, j in played], [(own[i], own[j]) for i, j in played]
    joints = [(a, b) if seat == 0 else (b, a) for a, b in moves]
    same = [(a, b) if seat == 0 else (b, a) for a, b in alike]
    for count in range(len(played) + 1):
        for split in range(count + 1):
            before, now = past_of(joints[:split]), moves[split:count]
            told = last(f"shapellm-{shows}({options})", now, seat, BY_SEAT, before)
            game = f"icg(labels=[{own[0]},{own[1]}])"
            assert told == last(f"shapellm-{shows}({variant})", alike[split:count], seat, game, past_of(same[:split]))
            assert seen(now, seat, BY_SEAT).choices.first == own[0]


def past_of(joints):
    return Past({joint: joints.count(joint) for joint in joints}, joints[-1] if joints else None, len(joints))


def test_own_labels_change_nothing_where_both_seats_have_the_same():
    assert last("shapellm-state(own_labels=True)", ["CD"]) == last("shapellm-state", ["CD"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shapellm-base(payoffs=prose)", "payoffs=sentences or table or matrix, not 'prose'"),
        ("shapellm-base(switched=perhaps)", "switched=True or False, not 'perhaps'"),
        ("shapellm-base(own_labels=N)", "own_labels=True or False, not 'N'"),
        ("shapellm-base(system=text)", "system=True or False, not 'text'"),
    ],
)
def test_options_that_do_not_exist_are_one_sentence(text, said):
    with pytest.raises(BadParameter, match=said):
        make_style(text)


def test_own_labels_need_as_many_actions_for_both():
    with pytest.raises(BadParameter, match="as many actions each, and here they have 1 and 2"):
        last("shapellm-base(own_labels=True)", [], game=WIDE)


@pytest.mark.parametrize("counts", [{}, {("C", "C"): 0}, {("D", "D"): 2}])
def test_a_past_that_does_not_count_its_last_round_is_refused(counts):
    with pytest.raises(BadParameter, match="counts the joint action that was last"):
        Past(counts, ("C", "C"), 2)


def test_a_past_of_counts_without_a_last_round_is_refused():
    with pytest.raises(BadParameter, match="unlike None in"):
        Past({("C", "C"): 1})
