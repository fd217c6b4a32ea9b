"""Agreement of two computations: what the limit follows from, and that no fault hides behind it."""

import math

import pytest
import torch

from stratagem.language.models.agreement import Agreement, deviation


def test_deviation_is_in_standard_deviations_of_the_worst_row():
    expected = [torch.tensor([-1.0, 1.0, -1.0, 1.0]), torch.tensor([-2.0, 2.0, -2.0, 2.0])]
    results = [expected[0], expected[1] + 0.5]
    assert deviation(results, expected) == pytest.approx(0.5 / expected[1].std().item())


@pytest.mark.parametrize("row", [0, 1])
def test_deviation_of_nan_is_nan_wherever_it_stands(row):
    results = [torch.randn(4), torch.randn(4)]
    expected = [other.clone() for other in results]
    results[row][2] = math.nan
    assert math.isnan(deviation(results, expected))
    assert not Agreement(math.nan, 0.1, "bf16").agrees


@pytest.mark.parametrize(
    ("dtype", "noise", "limit"),
    [("fp32", 1e-6, 1e-3), ("bf16", 0.0, 0.03), ("bf16", 0.07, 0.21), ("bf16", 0.4, 0.5), ("fp32", math.nan, 1e-3)],
)
def test_limit_follows_the_noise_between_a_floor_and_a_cap(dtype, noise, limit):
    found = Agreement(0.0, noise, dtype)
    assert found.limit == pytest.approx(limit)
    assert Agreement(limit, noise, dtype).agrees
    assert not Agreement(limit * 1.01, noise, dtype).agrees
