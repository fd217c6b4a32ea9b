"""Words of disguises: generated ones have one form and no meaning, and texts are translated word by word."""

import re

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games.disguise.invention import invent
from stratagem.games.disguise.substitution import Substitution, forms, is_name
from stratagem.games.disguise.vocabulary import action_words
from stratagem.games.key import Key


@pytest.mark.parametrize("seed", range(5))
def test_generated_words_have_one_form_and_differ_in_two_letters(seed):
    words = invent(120, Key(seed))
    assert len(words) == 120
    assert all(re.fullmatch("[bdklmnprstvz][aeiou][bdklmnprstvz][aeiou][bkvz]u", word) for word in words)
    assert min(sum(a != b for a, b in zip(one, two, strict=True)) for one in words for two in words if one != two) == 2
    assert words == invent(120, Key(seed))
    assert words[:3] == invent(3, Key(seed))
    assert words[:3] != invent(3, Key(seed + 100))


def test_generated_words_hold_no_word_of_the_game():
    first = invent(1, Key(0))[0]
    assert first[1:5] not in invent(1, Key(0), [first[1:5]])[0]
    assert invent(1, Key(0), [first[:2]]) == [first]  # two letters are in too many words


def test_too_many_words_are_refused():
    with pytest.raises(CannotCompute, match="rename fewer words"):
        invent(3000, Key(0))


def test_inflections_are_kept():
    assert [forms("bet")[form] for form in ("bet", "bets", "betting", "better")] == ["", "s", "ing", "er"]
    assert [forms("raise")[form] for form in ("raises", "raised", "raising")] == ["s", "ed", "ing"]
    assert [forms("army")[form] for form in ("armies", "army")] == ["s", ""]
    assert [forms("keep/kept")[form] for form in ("keep", "kept", "keeps")] == ["", "ed", "s"]
    assert forms("agree")["agreement"] == "ment"


@pytest.mark.parametrize(
    ("words", "plain", "new"),
    [
        ({"bet": "lobaku"}, "BET, a bet, Bets, betting, betray", "LOBAKU, a lobaku, Lobakus, lobakuing, betray"),
        ({"bet": "pass", "pass": "bet"}, "PASS or BET; passed", "BET or PASS; beted"),
        ({"J": "kazu", "Q": "libu"}, "J below Q, j, JQ", "Kazu below Libu, j, JQ"),
        ({"PAR": "DEZU", "A": "babi"}, "A PAR - A unit, a par", "Babi DEZU - A unit, a par"),
        (
            {"a": "kazu", "b": "libu"},
            "a to b, a2xb3, b1-a2: a board",
            "kazu to libu, kazu2xlibu3, libu1-kazu2: a board",
        ),
        ({"item": "pasebu"}, "an item, An ITEM, an apple", "a pasebu, A PASEBU, an apple"),
        ({"connect four": "pasebu", "four": "lobaku"}, "Connect four; four", "Pasebu; lobaku"),
        ({"tic-tac-toe": "pasebu"}, "Tic-tac-toe on", "Pasebu on"),
        ({"liar": "lobaku"}, "Liar's dice", "Lobaku's dice"),
        ({"die": "lobaku"}, "1 die, 2 dice, Dice", "1 lobaku, 2 lobakus, Lobakus"),
        ({}, "nothing changes", "nothing changes"),
    ],
)
def test_substitution_exchanges_whole_words(words, plain, new):
    assert Substitution(words)(plain) == new


def test_a_word_within_another_is_found():
    text = Substitution({"call": "lobaku", "bet": "pasebu", "J": "kazu"})
    assert text.remaining(text("recall the bet")) == "recall"
    assert text.remaining(text("called, CALL, between J and Jack")) == ""
    assert Substitution({"LOW": "lobaku"}).remaining("the lowest bid is LOBAKU; low") == "low"


def test_names_are_told_from_words():
    assert [is_name(word) for word in ("bet", "keep/kept", "J", "a", "PAR")] == [False, False, True, True, True]


def test_words_of_actions():
    assert action_words("offer [1, 2, 0]") == ["offer"]
    assert action_words("bid 2x5") == ["bid"]
    assert action_words("c2xb3") == ["c", "b"]
    assert action_words("give it to the other player") == ["give"]
