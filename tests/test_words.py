"""The tables of the check of words: each entry is needed, and is held where the table says."""

import re

import pytest

from stratagem.base.renamed.keys import RELEASES
from words import KEYS, PHRASES, REPLACED, SPARED, phrases

RENAMED = {old for release in RELEASES for keys in release.keys.values() for old in keys}
EXAMPLES = (
    *("The hero plays.", "after a warm start", "the last table", "two lessons", "it begins anew", "was begun anew"),
    *("it teaches nobody", "it is taught", "the token teaches", "untaught tokens", "an uncharged seat"),
    "charged twice",
    *("a charge for lies", "worth more than the mean", "a state is worth 2", "the seat is paid 1", "what it brought"),
    *("its openness", "farthest = 1", "the least spread", "the first policies", "three forks each"),
    *("what leaving the reference costs", "class Trained:", "class Held(Base):", "class Seen[T]:", "equal to the bit"),
)
PLAIN = (
    *("nothing is paid twice", "-1 is paid here", "the farthest unit", "a fork of the state", "class TrainablePolicy:"),
    *('key.at("dice to the bit")', "It was found to the bitter end."),
)


@pytest.mark.parametrize("text", EXAMPLES)
def test_replaced_phrase_is_found(text):
    assert list(phrases(text))


@pytest.mark.parametrize("text", PLAIN)
def test_plain_words_are_left_alone(text):
    assert list(phrases(text)) == []


def test_every_pattern_has_an_example():
    assert [pattern.pattern for pattern in PHRASES if not any(map(pattern.search, EXAMPLES))] == []


@pytest.mark.parametrize("key", KEYS)
def test_replaced_key_is_in_the_table_of_renamed_keys(key):
    assert key in RENAMED


def test_spared_words_have_a_reason_and_no_pattern():
    assert all(len(reason.split()) >= 5 for reason in SPARED.values())
    for word in re.findall(r"\w+", " ".join(SPARED)):
        assert word not in REPLACED
