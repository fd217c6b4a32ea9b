"""Waits double, differ from request to request, and hear what a server asks."""

import math
import time
from email.utils import formatdate

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games.key import Key
from stratagem.language.engines.remote.retries import Patience, asked_pause, passes, pause

PATIENCE = Patience(first_wait=1.0, longest_wait=10.0)


@pytest.mark.parametrize(
    ("turn", "least", "most"), [(1, 0.5, 1), (2, 1, 2), (3, 2, 4), (4, 4, 8), (5, 5, 10), (5000, 5, 10)]
)
def test_a_wait_doubles_up_to_the_longest(turn, least, most):
    waits = [pause(PATIENCE, turn, Key(seed), 0.0) for seed in range(200)]
    assert least <= min(waits) < least * 1.1
    assert most * 0.9 < max(waits) <= most


def test_a_wait_follows_from_the_request():
    assert pause(PATIENCE, 2, Key(1), 0.0) == pause(PATIENCE, 2, Key(1), 0.0)
    assert pause(PATIENCE, 2, Key(1), 0.0) != pause(PATIENCE, 2, Key(2), 0.0)


def test_waits_of_one_request_are_drawn_apart():
    """Requests that have met once would otherwise meet at every further try."""
    first, second = (pause(PATIENCE, turn, Key(1), 0.0) for turn in (1, 2))
    assert second != 2.0 * first


def test_what_a_server_asks_for_is_the_least_up_to_the_longest_wait():
    assert 3.5 <= pause(PATIENCE, 1, Key(1), 3.0) <= 4.0
    assert 10.5 <= pause(PATIENCE, 1, Key(1), 3600.0) <= 11.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3),
        (" 1.5 ", 1.5),
        ("-3", 0),
        ("nan", 0),
        ("1e9", 0),
        ("soon", 0),
        ("", 0),
        ("9" * 400, 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 99999 07:28:00 GMT", 0),
    ],
)
def test_a_retry_after_header_is_read(text, seconds):
    assert asked_pause({"retry-after": text}) == seconds


def test_a_retry_after_header_may_be_a_date():
    assert 28 < asked_pause({"retry-after": formatdate(time.time() + 30, usegmt=True)}) <= 30
    assert asked_pause({}) == 0


def test_only_what_passes_is_tried_again():
    assert [status for status in range(300, 600) if passes(status)] == [408, 409, 429, *range(500, 600)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0.0},
        {"timeout": math.inf},
        {"timeout": math.nan},
        {"tries": 0},
        {"first_wait": -1.0},
        {"longest_wait": math.inf},
    ],
)
def test_patience_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(BadParameter):
        Patience(**wrong)
