"""The tables of SEPO's experiment: pairing with the control, the correction, the demo beside other seeds."""

from pathlib import Path

import demo
import numpy as np
import pytest
import sepo
import sepo_front
import sepo_pool
import sepo_table
from result_tables import finished, markdown, number, read_results
from scipy.stats import spearmanr
from synthetic_runs import synthetic_run

from stratagem.cli.commands import COMMANDS
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family

ROOT = Path(__file__).resolve().parents[2]


def run(seed, last, stages=None):
    curve = {"steps": [0, 20, 40, 60], "values": [0.1, 0.08, 0.07, last]}
    pool = {"steps": [0, 20, 40, 60], "values": [0.5, 0.4, 0.3, 0.2]}
    return {"seed": seed, "stages": stages or {}, "curves": {"exact": curve, "pool_advantage": pool}}


def test_differences_pair_runs_by_seed_and_leave_out_seeds_without_a_control():
    arm, control = [run(0, 0.03), run(2, 0.01), run(3, 0.5)], [run(2, 0.05), run(0, 0.04)]
    assert sepo_table.differences(arm, control, sepo_table.last_exact) == pytest.approx({0: -0.01, 2: -0.04})


def by_seed(*values):
    return dict(enumerate(values))


def test_compared_corrects_over_the_declared_family_by_holm():
    family = Family("four", ("a", "b", "alone", "not run"))
    gaps = {"a": by_seed(1.0, 1.1, 0.9, 1.2, 1.0), "b": by_seed(0.1, -0.2, 0.3, -0.1, 0.0), "alone": by_seed(1.0)}
    first, second = sepo_table.compared(family, gaps)
    assert first[:3] == ["a", "5", "1.040"]
    assert (first[4], first[5]) == (".062", ".250"), "five seeds give no p below 1/16, and there are four comparisons"
    assert float(second[5]) == 1.0


def test_families_are_declared_before_the_runs():
    assert len(sepo_table.ARM_FAMILY) == len(sepo.ARMS) - 1
    assert len(sepo_table.CONTROL_FAMILY) == 2 * len(sepo.GAMES) + 1
    gaps = sepo_table.control_differences({"ipd": {"tiny": [run(0, 0.1, CHOSEN)], "control": [run(0, 0.1, CHOSEN)]}})
    assert gaps == {"ipd, pool_advantage": {0: 0.0}, "ipd, safety": {0: 0.0}}
    assert set(gaps) <= set(sepo_table.CONTROL_FAMILY.comparisons)


CHOSEN = {"SEPO": {"pool_advantage": 0.1, "safety": 0.2}}


DATA = read_results(ROOT / "docs/results/sepo.json")
PAGE = (ROOT / "docs/results/sepo.md").read_text("utf-8")
SENTENCES = " ".join(PAGE.split())


def line(row):
    return f"\n| {' | '.join(row)} |\n"


def test_page_has_the_comparisons_of_the_published_arms():
    assert markdown(sepo_table.CLAIM_COLUMNS, sepo_table.claim_rows(DATA["kuhn"])) in PAGE
    rows = sepo_table.claim_rows(DATA["kuhn-smollm2"], sepo_table.SMOLLM2_FAMILY)
    assert markdown(sepo_table.CLAIM_COLUMNS, rows) in PAGE
    assert (
        markdown(["Kuhn poker, weight", "seeds", "payoff", "exact"], sepo_front.front_rows("kuhn", DATA["kuhn"]))
        in PAGE
    )
    for game in set(sepo_table.RESPONSE_FAMILIES) & set(DATA):
        rows = sepo_table.response_rows(game, DATA[game])
        assert f"\n{markdown(sepo_table.RESPONSE_COLUMNS, rows)}\n\n" in PAGE


def test_page_has_the_arms_of_the_dilemma_and_says_that_the_others_end_alike():
    rows = {row[0].strip("`"): row for row in sepo_table.claim_rows(DATA["ipd"])}
    assert all(line(rows[arm]) in PAGE for arm in ("none-own", "none-togo", "rollout-togo", "probe-togo", "best-togo"))
    own = [row for arm, row in rows.items() if arm.endswith("own")]
    assert {row[2] for row in own} == {".000 \u00b1 .000"}
    assert "With its own reward every arm ends at .000" in SENTENCES
    assert rows["rollout-episode"][2][:4] == ".501"
    assert rows["rollout-episode"][-1] == "1.000"
    assert all(float(row[-1]) >= 0.5 for row in rows.values() if row[-1] != "\u2013"), "the page says not supported"


def test_page_has_the_safety_of_every_game_and_nothing_of_the_family_is_significant():
    rows = list(sepo_table.compared(sepo_table.CONTROL_FAMILY, sepo_table.control_differences(DATA)))
    assert len(rows) == len(sepo_table.CONTROL_FAMILY) == 11
    assert all(line(row) in PAGE for row in rows if row[0].endswith("safety"))
    assert all(float(row[-1]) >= 0.6 for row in rows)
    (exact,) = (row for row in rows if row[0] == "kuhn, exact")
    assert f"Kuhn poker's exact figure, {exact[2]}, has Holm p {exact[-1]}" in SENTENCES


@pytest.mark.parametrize(
    ("game", "cells"),
    [("kuhn", "Kuhn poker | all arms"), ("leduc", "Leduc poker | both arms"), ("ipd", "ipd, four rounds | four arms")],
)
def test_page_has_the_correlations_of_the_pools_figure(game, cells):
    seeds = sepo_pool.points_by_seed(DATA[game], sepo.POOL_ARMS)
    points = np.vstack(list(seeds.values()))
    correlation = number(sepo_pool.correlation(points), 2)
    assert f"| {cells} | {len(seeds)} | {len(points)} | {correlation} | " in PAGE


def test_page_says_that_no_weight_of_a_penalty_is_significant():
    for game, least in (("kuhn", 0.5), ("ipd", 1.0)):
        gaps = sepo_front.front_differences(game, DATA[game])
        rows = list(sepo_table.compared(sepo_front.family(game), gaps))
        assert len(rows) == len(sepo_front.family(game))
        assert min(float(row[-1]) for row in rows) == least


def test_page_begins_with_the_figures_of_the_published_arms():
    data = read_results(ROOT / "docs/results/sepo-play.json")
    rows = list(sepo_table.headline_rows(data["kuhn"]))
    page = (ROOT / "docs/results/sepo.md").read_text("utf-8")
    assert f"\n{markdown(sepo_table.HEADLINE_COLUMNS, rows)}\n\n" in page
    assert rows[0][1:4] == ["-.222", ".271", ".458"], "random play, as `stratagem eval kuhn` prints it"


def test_finished_runs_are_added_by_game_name_and_seed(tmp_path):
    player = {"player": "a", "metrics": {"payoff": {"mean": 1.0}, "nra": None}, "exact": {"exploitability": 0.03}}
    games = {"games": [{"players": [player, {**player, "player": "b", "exact": {}}]}]}
    evaluation = {"rows": {"a": "SEPO (step 9)", "b": "SFT"}, "evaluation": games}
    metrics = [{"kuhn/exact/exploitability": value, "loss/kl": 0.5} for value in (0.09, 0.05)]
    files = {"evaluation.json": evaluation, "findings.json": {"silent_term": {"count": 2}}}
    synthetic_run(tmp_path, "kuhn-none-togo-bit-3", metrics, files)
    synthetic_run(tmp_path, "negotiation-v1-tiny-0", metrics, files, over=False)
    synthetic_run(tmp_path, "other-0", metrics, files)
    old = {"kuhn": {"none-togo-bit": [{"seed": 1}]}, "auction": {"tiny": [{"seed": 0}]}}
    data = sepo_table.merged_by_game(old, list(finished(tmp_path)))
    assert list(data) == ["auction", "kuhn"]
    assert data["kuhn"]["none-togo-bit"] == [
        {"seed": 1},
        {
            "seed": 3,
            "command": "stratagem train kuhn-none-togo-bit-3",
            "commit": "c" * 40,
            "dirty": False,
            "recipe": {},
            "stages": {
                "SEPO": {"payoff": 1.0, "exact": 0.03},
                "SFT": {"payoff": 1.0},
                "last": {"payoff": 1.0, "exact": 0.03},
            },
            "curves": {
                "exact": {"steps": [0, 1], "values": [0.09, 0.05]},
                "kl": 0.5,
                "checks": {"silent_term": 2},
            },
        },
    ]


def test_arms_are_compared_with_the_control_of_their_own_reward():
    runs = {
        "none-own": [run(0, 0.2)],
        "none-togo": [run(0, 0.1)],
        "best-own": [run(0, 0.3)],
        "best-togo": [run(0, 0.4)],
    }
    gaps = sepo_table.arm_differences(runs)
    assert gaps["best-own less none-own"] == pytest.approx({0: 0.1})
    assert gaps["best-togo less none-togo"] == pytest.approx({0: 0.3})
    assert gaps["none-own less none-togo"] == pytest.approx({0: 0.1})


def test_a_row_without_a_figure_is_a_dash():
    assert sepo_table.over_seeds([]) == "\u2013"
    assert sepo_table.over_seeds([-0.0301, -0.0299]) == "-.030 \u00b1 .000"


def test_the_demo_is_inside_or_outside_the_range_of_other_seeds():
    def stages(exact):
        figures = {"exact": exact, "payoff": 0.0, "pool_advantage": 0.1, "safety": 0.2}
        return dict.fromkeys(("SFT", "SEPO", "last"), figures)

    rows = list(demo.compared(stages(0.02), [stages(0.01), stages(0.03)]))
    assert [row[-1] for row in rows] == ["inside"] * len(demo.ROWS)
    rows = list(demo.compared(stages(0.04), [stages(0.01), stages(0.03)]))
    assert [row[-1] for row in rows] == ["outside"] * 3 + ["inside"] * 2
    assert rows[0][1:4] == (".040", ".020 \u00b1 .010", ".010 to .030")
    told = demo.summary(stages(0.04), [stages(0.01), stages(0.03)])
    assert "gains .040 chips a hand from the model before SEPO, and .040 after it" in told
    assert told.endswith("(2 seeds on one kind of processor: .020 \u00b1 .010; random play: .458).")
    less = {**stages(0.04), "SEPO": {**stages(0.04)["SEPO"], "safety": -0.1}}
    told = demo.summary(less, [stages(0.01), stages(0.03)])
    assert told.endswith("\nWhat became worse, on the common scale: safety from .200 to -.100.")


def test_the_seeds_beside_the_demo_are_twenty_of_its_settings():
    seeds = demo.read_seeds(ROOT / "docs" / "results" / "sepo-play.json")
    assert len(seeds) == 20
    own = sepo_table.figures(ROOT / "src" / "stratagem" / "demo" / "kuhn-demo")
    outcomes = [row[-1] for row in demo.compared(own, seeds)]
    assert outcomes == ["inside"] * len(demo.ROWS)
    assert own["SFT"]["exact"] == pytest.approx(seeds[0]["SFT"]["exact"], abs=0.01)


def test_commands_that_the_demo_names_exist():
    for command, _ in demo.NEXT:
        program, name = command.split()[:2]
        assert program == "stratagem"
        assert name in COMMANDS


def test_checkpoints_of_the_start_are_counted_once_a_seed():
    arms = {"none-togo": [run(0, 0.03), run(1, 0.02)], "best-togo": [run(0, 0.01)]}
    seeds = sepo_pool.points_by_seed(arms, ("none-togo", "best-togo"))
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


def test_a_run_belongs_to_the_longest_game_in_its_name(tmp_path):
    files = {"evaluation.json": {"rows": {}, "evaluation": {"games": [{"players": []}]}}}
    for name in ("kuhn-smollm2-none-togo-0", "kuhn-smollm2-0", "kuhn-front-0.5-0"):
        synthetic_run(tmp_path, name, (), files)
    data = sepo_table.merged_by_game({}, list(finished(tmp_path)))
    assert {game: set(runs) for game, runs in data.items()} == {
        "kuhn": {"front-0.5", "smollm2"},
        "kuhn-smollm2": {"none-togo"},
    }


def with_weight(pay, exact):
    base = {"payoff": 0.0, "exact": 0.1}
    return [
        {"seed": seed, "stages": {"Base": base, "last": {"payoff": pay + move, "exact": exact + move}}}
        for seed, move in enumerate((0.0, 0.01))
    ]


def test_weights_of_a_penalty_are_compared_with_weight_zero():
    runs = {"front-0": with_weight(0.5, 0.3), "front-4.5": with_weight(0.4, 0.1)}
    start, none, heavy = sepo_front.front_rows("kuhn", runs)
    assert start == ["after SFT", "2", ".000", ".100"]
    assert none == ["0", "2", ".505 \u00b1 .005", ".305 \u00b1 .005"]
    assert heavy[0] == "4.5"
    gaps = {name: gap for name, gap in sepo_front.front_differences("kuhn", runs).items() if gap}
    assert gaps["payoff, weight 4.5 less 0"] == pytest.approx({0: -0.1, 1: -0.1})
    assert gaps["exact, weight 4.5 less 0"] == pytest.approx({0: -0.2, 1: -0.2})
    for game in sepo.FRONT:
        assert tuple(sepo_front.front_differences(game, {})) == sepo_front.family(game).comparisons
