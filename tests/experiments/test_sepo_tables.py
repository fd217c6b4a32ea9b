"""The tables of SEPO's experiment: pairing with the control, the correction, the demo beside other seeds."""

from pathlib import Path

import demo
import numpy as np
import pytest
import sepo_pool
import sepo_table
from scipy.stats import spearmanr

from stratagem.games.key import Key

ROOT = Path(__file__).resolve().parents[2]


def run(seed, last, stages=None):
    curve = {"steps": [0, 20, 40, 60], "values": [0.1, 0.08, 0.07, last]}
    pool = {"steps": [0, 20, 40, 60], "values": [0.5, 0.4, 0.3, 0.2]}
    return {"seed": seed, "stages": stages or {}, "curves": {"exact": curve, "exploit": pool}}


def test_differences_pair_runs_by_seed_and_leave_out_seeds_without_a_control():
    arm, control = [run(0, 0.03), run(2, 0.01), run(3, 0.5)], [run(2, 0.05), run(0, 0.04)]
    assert sepo_table.differences(arm, control, sepo_table.last_exact) == pytest.approx([-0.01, -0.04])


def test_compared_corrects_over_all_rows_by_holm():
    rows = {"a": [1.0, 1.1, 0.9, 1.2, 1.0], "b": [0.1, -0.2, 0.3, -0.1, 0.0], "alone": [1.0]}
    first, second = sepo_table.compared(rows)
    assert first[0] == "a"
    assert (first[4], first[5]) == (".062", ".125"), "five seeds give no p below 1/16, and there are two rows"
    assert float(second[5]) == 1.0


def test_arms_are_compared_with_the_control_of_their_own_reward():
    runs = {
        "none-own": [run(0, 0.2)],
        "none-togo": [run(0, 0.1)],
        "best-own": [run(0, 0.3)],
        "best-togo": [run(0, 0.4)],
    }
    found = sepo_table.arm_differences(runs)
    assert found["best-own less none-own"] == pytest.approx([0.1])
    assert found["best-togo less none-togo"] == pytest.approx([0.3])
    assert found["none-own less none-togo"] == pytest.approx([0.1])


def test_a_row_without_a_figure_is_a_dash():
    assert sepo_table.over_seeds([]) == "\u2013"
    assert sepo_table.over_seeds([-0.0301, -0.0299]) == "-.030 \u00b1 .000"


def test_the_demo_is_inside_or_outside_the_range_of_other_seeds():
    def stages(exact):
        return {stage: {"exact": exact, "pay": 0.0, "exploit": 0.1} for stage in ("SFT", "SEPO", "last")}

    rows = list(demo.compared(stages(0.02), [stages(0.01), stages(0.03)]))
    assert [row[-1] for row in rows] == ["inside"] * len(demo.ROWS)
    rows = list(demo.compared(stages(0.04), [stages(0.01), stages(0.03)]))
    assert [row[-1] for row in rows] == ["outside"] * 3 + ["inside"] * 2
    assert rows[0][1:4] == (".040", ".020 \u00b1 .010", ".010 to .030")


def test_checkpoints_of_the_start_are_counted_once_a_seed():
    arms = {"none-togo": [run(0, 0.03), run(1, 0.02)], "best-togo": [run(0, 0.01)]}
    seeds = sepo_pool.by_seed(arms, ("none-togo", "best-togo"))
    assert {seed: len(rows) for seed, rows in seeds.items()} == {0: 7, 1: 4}


def test_correlation_is_scipys_and_its_interval_resamples_whole_seeds():
    draw = np.random.default_rng(0)
    seeds = {seed: draw.normal(size=(8, 2)) + np.array([seed, seed]) for seed in range(6)}
    points = np.vstack(list(seeds.values()))
    assert sepo_pool.correlation(points) == pytest.approx(spearmanr(points[:, 0], points[:, 1]).statistic)
    low, high = sepo_pool.interval(seeds, sepo_pool.correlation, Key(0), rounds=200)
    assert low < sepo_pool.correlation(points) < high
    assert sepo_pool.interval({0: seeds[0]}, sepo_pool.correlation, Key(0), rounds=20) == pytest.approx(
        (sepo_pool.correlation(seeds[0]),) * 2
    )
