"""Names of several things, as a player reads them."""

import pytest

from stratagem.games.counting import count_in_words, plural_of


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("chip", "chips"),
        ("penny", "pennies"),
        ("key", "keys"),
        ("box", "boxes"),
        ("match", "matches"),
        ("die", "dice"),
        ("leaf", "leaves"),
        ("knife", "knives"),
        ("roof", "roofs"),
        ("man", "men"),
        ("sheep", "sheep"),
        ("series", "series"),
        ("potato", "potatoes"),
        ("quiz", "quizzes"),
        ("Leaf", "Leaves"),
        ("gold-leaf", "gold-leaves"),
        ("USD", "USD"),
        ("A", "As"),
    ],
)
def test_several_things_have_their_english_name(one, several):
    assert plural_of(one) == several


def test_one_thing_is_named_by_itself():
    assert [count_in_words(number, "leaf") for number in (1, 2, 30)] == ["one leaf", "two leaves", "30 leaves"]
