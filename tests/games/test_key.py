"""Keyed chance: fixed for ever, even, and independent from place to place."""

import random
from collections import Counter
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from stratagem.games.key import Key

# a p-value below this comes up once in a million fair tests; the draws are fixed, so a test that passes stays so
UNLIKELY = 1e-6
PLACES = st.lists(st.one_of(st.integers(0, 2**40), st.text(max_size=8)), max_size=5)


def test_the_values_never_change():
    """Every transcript that was ever written rests on these."""
    key = Key(7).at("deal", 3)
    assert key.value == 0xD6FE0C3CCF420852
    assert [Key(seed).at("card", 0).integer(52) for seed in range(8)] == [40, 13, 22, 32, 51, 41, 33, 50]
    assert Key(2**64 - 1).at().value == 2**64 - 1
    assert key.unit() == 0.7713489304681251
    assert [Key(1).at("w", n).choose((1, 2, 3)) for n in range(10)] == [2, 1, 0, 1, 0, 2, 2, 1, 2, 1]
    assert key.rng().random() == random.Random(key.value).random()


def test_mixing_is_splitmix64():
    """The first outputs of the published generator for the seed 1234567 (Vigna's reference code)."""
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    gamma = 0x9E3779B97F4A7C15
    drawn = [Key(1234567 + gamma * n).integer(2**64) for n in range(1, 6)]
    assert drawn == published


@given(st.integers(0, 2**64 - 1), PLACES)
def test_a_path_can_be_walked_in_any_steps(seed, path):
    step_by_step = Key(seed)
    for place in path:
        step_by_step = step_by_step.at(place)
    assert step_by_step == Key(seed).at(*path)
    assert hash(step_by_step) == hash(Key(seed).at(*path))


@given(st.integers(-(2**70), 2**70), PLACES, st.integers(1, 2**62))
def test_whole_numbers_stay_within_their_bound(seed, path, bound):
    key = Key(seed).at(*path)
    assert 0 <= key.integer(bound) < bound
    assert 0.0 <= key.unit() < 1.0
    assert key.integer(1) == 0


@pytest.mark.parametrize("bound", [2, 3, 6, 10, 52, 1000])
@pytest.mark.parametrize("vary", ["seed", "place", "turn"])
def test_draws_are_even(bound, vary):
    size = 200 * bound
    keys = {
        "seed": (Key(n).at("x") for n in range(size)),
        "place": (Key(0).at("x", n) for n in range(size)),
        "turn": (Key(0).at(n, "x") for n in range(size)),
    }[vary]
    counts = Counter(key.integer(bound) for key in keys)
    assert chisquare([counts[n] for n in range(bound)]).pvalue > UNLIKELY


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda n: Key(n).at("a"), lambda n: Key(n).at("b")),
        (lambda n: Key(n).at("a", 0), lambda n: Key(n).at("a", 1)),
        (lambda n: Key(n).at("a"), lambda n: Key(n + 1).at("a")),
        (lambda n: Key(n).at("a"), lambda n: Key(n).at("a", 0)),
        (lambda n: Key(0).at(n, n + 1), lambda n: Key(0).at(n + 1, n)),
        (lambda n: Key(0).at("a", n), lambda n: Key(0).at("a", n + 1)),
        (lambda n: Key(n), lambda n: Key(n).at(0)),
    ],
    ids=["words", "numbers", "seeds", "depths", "orders", "neighbours", "parent and child"],
)
def test_neighbouring_places_are_independent(first, second):
    """All 36 pairs of dice come up alike, and the units do not correlate."""
    size = 7200
    pairs = Counter((first(n).integer(6), second(n).integer(6)) for n in range(1, size + 1))
    assert chisquare([pairs[a, b] for a in range(6) for b in range(6)]).pvalue > UNLIKELY
    product = sum((first(n).unit() - 0.5) * (second(n).unit() - 0.5) for n in range(1, size + 1)) / size
    assert abs(product) * 12 * sqrt(size) < 5


def test_every_bit_of_the_seed_counts():
    for bit in range(64):
        flips = [bin(Key(n).at("x").value ^ Key(n ^ (1 << bit)).at("x").value).count("1") for n in range(200)]
        assert 30 < sum(flips) / len(flips) < 34


def test_places_do_not_collide():
    paths = (
        [(a, b) for a in range(150) for b in range(150)]
        + [(str(n),) for n in range(5000)]
        + [(n,) for n in range(5000)]
    )
    assert len({Key(3).at(*path).value for path in paths}) == len(paths)


def test_choose_follows_its_weights():
    weights = (1.0, 0.0, 3.0, 0.5, 0.0, 5.5)
    counts = Counter(Key(9).at(n).choose(weights) for n in range(20_000))
    assert set(counts) == {0, 2, 3, 5}
    expected = [weight * 2000 for weight in weights if weight]
    assert chisquare([counts[index] for index in (0, 2, 3, 5)], expected).pvalue > UNLIKELY


@given(st.integers(0, 2**64 - 1), st.lists(st.floats(0, 1e6), min_size=1, max_size=8))
def test_choose_never_takes_what_weighs_nothing(seed, weights):
    if sum(weights) > 0:
        assert weights[Key(seed).choose(weights)] > 0


@pytest.mark.parametrize("weights", [(), (0.0,), (0.0, 0.0), (float("nan"), 1.0)])
def test_choose_refuses_weights_among_which_nothing_can_be_chosen(weights):
    with pytest.raises(ValueError, match="weights"):
        Key(1).choose(weights)


def test_the_last_of_the_weights_can_be_reached_and_rounding_does_not_overshoot():
    assert Key(0).choose((1e-300, 1e-300)) in (0, 1)
    assert {Key(n).at("x").choose((0.1,) * 10) for n in range(500)} == set(range(10))
    assert {Key(n).at("x").choose((1.0, 1e-17, 0.0)) for n in range(500)} == {0}
