"""Conditions of an audit: what they read, and that long ones take no time."""

import time

import pytest

from stratagem.base.errors import BadParameter
from stratagem.measure.audit.condition import Condition, read_condition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kuhn.exploitability.lower > 0.1", ("kuhn.exploitability", "lower", ">", 0.1)),
        ("  kuhn.safety<=-1e-3 ", ("kuhn.safety", "value", "<=", -0.001)),
        ("ipd(rounds=2).payoff_random >= +3", ("ipd(rounds=2).payoff_random", "value", ">=", 3.0)),
        ("ipd(p=0.5).pay_random.against.lower < 0", ("ipd(p=0.5).payoff_random.against", "lower", "<", 0.0)),
        ("a > b < 1", ("a > b", "value", "<", 1.0)),
        ("talk(kuhn).illegal\t<\t.5", ("talk(kuhn).illegal", "value", "<", 0.5)),
    ],
)
def test_a_condition_has_a_figure_a_sign_and_a_number(text, expected):
    assert read_condition(text) == Condition(text, *expected)


@pytest.mark.parametrize("text", ["", ">", "a >", "> 1", "a 1", "a > b", "a > 1 2", "a > 1e", "a > nan", " > 1"])
def test_other_texts_are_refused_in_a_sentence(text):
    with pytest.raises(BadParameter, match="takes a figure, a sign"):
        read_condition(text)


@pytest.mark.parametrize(
    "text", ["a" + " " * 200_000 + "b", "<" * 100_000, " " * 200_000, "a" + " " * 200_000 + "> 1x"]
)
def test_a_long_condition_is_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(BadParameter):
        read_condition(text)
    assert time.process_time() - start < 1.0, "800 spaces took three seconds"
