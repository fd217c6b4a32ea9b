"""Simulated logs: the stored cells, those of which `compare` warns, and the parts of the simulation."""

import json

import log_coverage
import numpy as np
import pytest

from stratagem.games import Key
from stratagem.measure.logs.coverage import GOAL, OUTSIDE, cell_of, warning_of
from stratagem.measure.statistics import sign_flip_p

KNOWN = json.loads(log_coverage.OUT.read_text(encoding="utf-8"))


def test_every_cell_was_simulated_with_ten_thousand_logs():
    cells = [(row["outcomes"], row["items"], row["clusters"], row["missing"]) for row in KNOWN["rows"]]
    assert cells == log_coverage.CELLS
    assert KNOWN["logs"] == log_coverage.LOGS == 10_000


def test_compare_warns_of_the_cells_that_miss_the_goal():
    assert dict(OUTSIDE) == log_coverage.failing(KNOWN["rows"])
    for (outcomes, items, clusters), (covers, rejects) in OUTSIDE.items():
        warning = warning_of(cell_of(outcomes, items, clusters or items))
        assert f"{covers:.1%}" in warning
        assert f"{rejects:.1%}" in warning


def test_most_cells_hold_and_bounds_always_do():
    assert all(row["covers"] >= GOAL[0] for row in KNOWN["rows"] if row["missing"] == "reason")
    held = [GOAL[0] <= row["covers"] <= GOAL[1] for row in KNOWN["rows"] if row["missing"] != "reason"]
    assert np.mean(held) > 0.9


@pytest.mark.parametrize("size", [5, 40])
def test_sign_flips_of_many_rows_are_those_of_each(size):
    rng = np.random.default_rng(2)
    rows = np.concatenate([rng.normal(0.2, 1.0, (6, size)), rng.integers(-1, 2, (6, size))])
    found = log_coverage.sign_flips(rows, rng)
    assert found == pytest.approx([sign_flip_p(row, Key(0)) for row in rows], abs=0.04)


@pytest.mark.parametrize("kind", ["binary", "sparse", "skewed"])
@pytest.mark.parametrize("groups", [0, 8])
def test_true_difference_is_the_mean_of_many_logs(kind, groups):
    rng = np.random.default_rng(4)
    clusters = log_coverage.sizes(400, groups, rng)
    drawn = [log_coverage.draw(kind, (0.0, log_coverage.GAIN), clusters, 400, rng) for _ in range(20)]
    means = np.concatenate([one[:, 1] - one[:, 0] for one in drawn]).mean(axis=1)
    error = means.std() / np.sqrt(len(means))
    assert means.mean() == pytest.approx(log_coverage.true_difference(kind, groups > 0), abs=4.5 * error)


def test_a_small_simulation_covers(monkeypatch):
    monkeypatch.setattr(log_coverage, "LOGS", 400)
    row = log_coverage.simulate("binary", 100, 30, "none", seed=1)
    assert 0.91 <= row["covers"] <= 0.98
    assert row["holm_error"] < 0.1


def test_cells_of_the_file_are_not_simulated_again(monkeypatch):
    monkeypatch.setattr(log_coverage, "simulate", None)
    assert list(log_coverage.rows_of(KNOWN)) == KNOWN["rows"]
