"""Kept sets: every set comes back from its bytes, which are few."""

import numpy as np
import pytest

from stratagem.language.engines.kept_set import KeptSet, pack

VOCABULARY = 151_936


def drawn(rng, count, size):
    return np.sort(rng.choice(size, count, replace=False))


@pytest.mark.parametrize("size", [1, 7, 8, 9, 300, VOCABULARY])
def test_every_set_comes_back(size):
    rng = np.random.default_rng(size)
    counts = {1, 2, size // 9, size // 8 + 1, size // 2, size - size // 9, size - 2, size - 1, size}
    for count in sorted(number for number in counts if 1 <= number <= size):
        ids = drawn(rng, count, size)
        kept = KeptSet.of(ids, size)
        assert (kept.ids.tolist(), kept.size, len(kept)) == (ids.tolist(), size, count)
        assert list(kept) == ids.tolist()
        assert len(kept.packed) <= 5 + -(-size // 8)
        inside = set(ids.tolist())
        assert all((token in kept) == (token in inside) for token in (0, size // 2, size - 1, ids[0].item(), size))


def test_sets_packed_together_equal_sets_packed_alone():
    rng = np.random.default_rng(3)
    sets = [drawn(rng, count, 5000) for count in (1, 4999, 30, 5000, 2500, 1, 700)]
    together = pack(np.concatenate(sets), np.array([len(some) for some in sets]), 5000)
    assert together == [KeptSet.of(some, 5000) for some in sets]
    assert len({*together}) == len({tuple(some) for some in sets})


@pytest.mark.parametrize(
    ("ids", "most"),
    [(range(40_000, 40_010), 18), (range(0, VOCABULARY, 15_000), 27 + 11), (range(1000), 1005), (range(VOCABULARY), 5),
     ((n for n in range(VOCABULARY) if n % 10_000), 5 + 32), (range(0, VOCABULARY, 2), 5 + VOCABULARY // 8)],
)  # fmt: skip
def test_a_set_takes_few_bytes(ids, most):
    assert len(KeptSet.of(tuple(ids), VOCABULARY).packed) <= most
