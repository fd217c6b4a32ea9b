"""Kuhn poker as it is told of."""

import pytest

from stratagem.games import make_game


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("kuhn", "Kuhn poker, six hands, the seats open in turn."),
        ("kuhn(hands=3)", "Kuhn poker, 3 hands, the seats open in turn."),
        ("kuhn(hands=1)", "Kuhn poker, one hand."),
        ("talk(kuhn(hands=1))", "Kuhn poker, one hand, with messages before its turns."),
    ],
)
def test_summary_names_the_number_of_hands(text, summary):
    assert make_game(text).spec.summary == summary
