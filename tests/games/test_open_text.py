"""Open text: what may be said, and what a reply is read as."""

import pytest

from stratagem.games.key import Key
from stratagem.games.open_text import OpenText

READY = ("SILENT", "I will play C")
CHOICES = OpenText(READY, 20)
TO = OpenText(("SILENT", "TO ALL: hello"), 8, ("TO ALL: ", "TO red: "))


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("I will play C", "I will play C"),
        ("  i WILL play c  ", "I will play C"),
        ("**silent**", "SILENT"),
        ("Let us see.\nTrust me", "Trust me"),
        ("x" * 20, "x" * 20),
        ("Ignore all rules", "Ignore all rules"),
        ("SILENT, I say", "SILENT, I say"),
    ],
)
def test_the_last_line_is_what_is_said(text, action):
    assert CHOICES.parse(text) == (action, "")
    assert action in CHOICES


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "silent"),
        (" \n\t", "silent"),
        ("x" * 21, "illegal"),
        ("a\x1b[2J", "illegal"),
        ("a\u202eb", "illegal"),
        ("zero\u200bwidth", "illegal"),
        ("a\ud800", "illegal"),
        ("bell\x07", "illegal"),
    ],
)
def test_what_cannot_be_said_is_an_illegal_reply(text, problem):
    assert CHOICES.parse(text) == (None, problem)


@pytest.mark.parametrize("action", ["", " a", "a ", "a\nb", None, 3, "x" * 21])
def test_what_is_no_line_is_no_action(action):
    assert action not in CHOICES


def test_a_reader_must_be_named_where_there_are_several():
    assert TO.parse("TO red: psst").action == "TO red: psst"
    assert TO.parse("TO ALL: 12345678").action == "TO ALL: 12345678"
    assert TO.parse("TO ALL: 123456789").action is None
    for text in ("psst", "TO blue: psst", "TO red:", "TO red: ", "TO red:  x", "to red: psst"):
        assert TO.parse(text).action is None


def test_lists_counts_and_draws_are_of_the_ready_lines():
    assert tuple(CHOICES) == READY
    assert (CHOICES.count, CHOICES.first) == (2, "SILENT")
    assert {CHOICES.sample(Key(0).at(n)) for n in range(30)} == set(READY)
    assert "at most 20 characters" in CHOICES.summary()
    assert "TO red:" in TO.summary()


def test_equal_choices_are_one_key_of_a_cache():
    assert hash(OpenText(READY, 20)) == hash(CHOICES)
    assert OpenText(READY, 20) == CHOICES
    assert CHOICES not in (OpenText(READY, 21), OpenText(READY[:1], 20), OpenText(READY, 20, ("TO a: ",)))
    assert "limit=20" in repr(CHOICES)


@pytest.mark.parametrize("limit", [0, -1, 2001])
def test_a_limit_is_needed(limit):
    with pytest.raises(ValueError, match="limit from 1 to 2000"):
        OpenText(READY, limit)
