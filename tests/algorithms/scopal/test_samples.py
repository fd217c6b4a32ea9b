"""What samples count: balance between games and between kinds, draws, and units that weigh too much."""

import numpy as np
import pyarrow as pa
import pytest

from stratagem.algorithms.scopal.refinement import split
from stratagem.algorithms.scopal.samples import drawn, weights_of
from stratagem.algorithms.scopal.settings import SampleSettings
from stratagem.algorithms.scopal.steps import SCHEMA, Steps

PLAIN = SampleSettings(balance=False)


def steps(counts, games=None, desirable=None):
    """A table with these counts and nothing else of interest."""
    size = len(counts)
    columns = {field.name: pa.nulls(size, field.type) for field in SCHEMA}
    columns["game"] = pa.array(games or ["nim"] * size)
    columns["count"] = pa.array(counts)
    columns["reward"] = pa.array([0.5] * size)
    columns["desirable"] = pa.array(desirable or [True] * size)
    return Steps(pa.table(columns, schema=SCHEMA), ())


def test_without_balance_a_row_counts_as_often_as_it_was_said():
    assert weights_of(steps([3, 1, 4]), PLAIN).tolist() == [3, 1, 4]


def test_balanced_games_count_alike_and_all_together_as_before():
    weight = weights_of(steps([6, 2, 1, 1], ["nim", "nim", "kuhn", "kuhn"]), SampleSettings())
    assert weight.tolist() == pytest.approx([3.75, 1.25, 2.5, 2.5])


def test_kinds_are_brought_to_a_ratio_and_all_together_count_as_before():
    shifted = SampleSettings(balance=False, ratio=3.0)
    weight = weights_of(steps([1, 1, 4, 2], desirable=[True, True, False, False]), shifted)
    assert weight.tolist() == pytest.approx([3.0, 3.0, 4 / 3, 2 / 3])
    assert weights_of(steps([1, 2]), shifted).tolist() == [1, 2]


def test_draws_are_so_many_and_keep_each_rows_share_on_average():
    weight = np.array([8.0, 4.0, 2.0, 1.0, 1.0])
    assert drawn(weight, 0, np.random.default_rng(0)).tolist() == drawn(weight, 5, np.random.default_rng(0)).tolist()
    every = np.array([drawn(weight, 4, np.random.default_rng(seed)) for seed in range(4000)])
    assert set(every.sum(axis=1)) == {4.0}
    assert every.mean(axis=0) == pytest.approx(4 * weight / weight.sum(), abs=0.05)


def test_a_heavy_unit_is_cut_into_equal_parts_that_add_up():
    weight = np.array([20.0, 1.0, 1.0, 8.0]) / 7.5
    units, parts = split(weight, 1.0)
    assert units.tolist() == [0, 0, 0, 1, 2, 3, 3]
    totals = np.bincount(units, weights=parts)
    assert totals / totals.sum() == pytest.approx(weight / weight.sum())
    assert parts.mean() == pytest.approx(1.0)
    assert parts.max() <= 1.0 / (weight.sum() / len(parts)) + 1e-9
