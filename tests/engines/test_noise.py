"""The noise is Gumbel's, of a token and its place alone: not of the batch, nor of the other tokens asked about."""

import math

import numpy as np
import pytest
import torch
from plainly import chi_square

from stratagem.games.key import Key
from stratagem.language.engines.noise import gumbel, gumbel_of, seeds

_WORD = 0xFFFFFFFF


def mixed(bits):
    """Wellons' lowbias32, in whole numbers."""
    bits ^= bits >> 16
    bits = bits * 0x7FEB352D & _WORD
    bits ^= bits >> 15
    bits = bits * 0x846CA68B & _WORD
    return bits ^ bits >> 16


def by_hand(key, place, token):
    value = key.at("token", place).value
    bits = mixed(mixed((token * 0x9E3779B9 + (value >> 32)) & _WORD) ^ value & _WORD)
    return -math.log(min(-math.log1p(-(bits + 0.5) / 2**32), 22.0))


def noise(keys, places, tokens):
    return gumbel(seeds(keys, places, "cpu"), torch.as_tensor(tokens)).numpy()


def ranks(values):
    """Where values stand in Gumbel's distribution, from 0 to 1."""
    return np.exp(-np.exp(-np.asarray(values, dtype=np.float64)))


def test_it_is_the_hash_of_key_place_and_token():
    tokens = [0, 1, 2, 77, 49151, 262143]
    for number in range(20):
        key, place = Key(number).at("reply"), number % 7
        expected = [by_hand(key, place, token) for token in tokens]
        assert noise([key], [place], [tokens])[0] == pytest.approx(expected, abs=1e-3)


def test_it_is_gumbels():
    values = np.sort(ranks(noise([Key(n) for n in range(40)], [0] * 40, [range(5000)]).ravel()))
    steps = np.arange(len(values) + 1) / len(values)
    distance = max(np.abs(values - steps[:-1]).max(), np.abs(values - steps[1:]).max())
    assert distance < 2.2 / math.sqrt(len(values))  # Kolmogorov: once in eight thousand times


def test_the_upper_tail_is_right():
    """Large noise decides: how often it is beyond 7 is what is to be expected, and no two tokens tie there."""
    values = noise([Key(n) for n in range(60)], [3] * 60, [range(20_000)]).ravel()
    top, expected = values[values > 7.0], len(values) * -math.expm1(-math.exp(-7.0))
    assert abs(len(top) - expected) < 4.5 * math.sqrt(expected)
    assert len(np.unique(top)) == len(top)
    assert np.isfinite(values).all()


NEIGHBOURS = {
    "tokens": lambda: noise([Key(n) for n in range(40)], [0] * 40, [range(2001)]),
    "places": lambda: np.stack([noise([Key(5)], [place], [range(2000)])[0] for place in range(41)]).T,
    "keys": lambda: np.stack([noise([Key(n)], [0], [range(2000)])[0] for n in range(41)]).T,
    "calls": lambda: np.stack([noise([Key(9).at("player", n << 20)], [0], [range(2000)])[0] for n in range(41)]).T,
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_are_independent(name):
    values = ranks(NEIGHBOURS[name]())
    first, second = values[:, :-1].ravel(), values[:, 1:].ravel()
    assert abs(np.corrcoef(first, second)[0, 1]) < 4.5 / math.sqrt(len(first))
    cells = np.floor(first * 16).astype(int) * 16 + np.floor(second * 16).astype(int)
    counts = np.bincount(cells, minlength=256)
    assert chi_square(counts, np.full(256, len(first) / 256)) < 1.0


def test_a_slice_of_the_vocabulary_has_the_same_noise():
    keys, places = [Key(n) for n in range(5)], [4, 0, 2, 2, 9]
    whole = noise(keys, places, [range(3000)])
    some = [17, 0, 2999, 1024, 17]
    assert (noise(keys, places, [some]) == whole[:, some]).all()
    own = np.array([[n, 5 * n, 7] for n in range(5)])
    assert (noise(keys, places, own) == np.take_along_axis(whole, own, axis=1)).all()


def test_alone_or_in_a_batch_it_is_the_same():
    keys, places = [Key(n % 3) for n in range(64)], [n % 5 for n in range(64)]
    together = noise(keys, places, [range(500)])
    for row, (key, place) in enumerate(zip(keys, places, strict=True)):
        assert (noise([key], [place], [range(500)])[0] == together[row]).all()
    assert len(np.unique(together, axis=0)) == 15


def test_noise_without_a_tensor_is_the_same():
    tokens = [0, 5, 1499, 70_000]
    assert gumbel_of(Key(3), 7, tokens) == pytest.approx([by_hand(Key(3), 7, token) for token in tokens])
    assert gumbel_of(Key(3), 7, tokens) == pytest.approx(gumbel(seeds([Key(3)], [7], "cpu"), torch.tensor([tokens]))[0])


@pytest.mark.parametrize("shared", [True, False])
def test_noise_of_many_rows_is_that_of_each(monkeypatch, shared):
    keys, tokens = [Key(number) for number in range(5)], torch.arange(15).reshape(5, 3)
    tokens = tokens[:1] if shared else tokens
    whole = gumbel(seeds(keys, range(5), "cpu"), tokens)
    monkeypatch.setattr("stratagem.language.engines.noise.VALUES_AT_ONCE", 6)
    assert torch.equal(gumbel(seeds(keys, range(5), "cpu"), tokens), whole)
