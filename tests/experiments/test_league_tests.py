"""The league's comparisons: paired by seed, corrected within declared families, claims tested when all seeds are in."""

import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from scipy import stats
from synthetic_runs import synthetic_run

from stratagem.measure.statistics import holm
from stratagem.training.runs.metrics import Curve

ROOT = Path(__file__).resolve().parents[2]
league, tests, claims, league_table = map(import_module, ("league", "league_tests", "league_claims", "league_table"))


def curve(*values):
    return Curve(list(range(len(values))), list(values))


WAYS = {
    "self": {0: curve(9, 9, 1, 2), 1: curve(9, 9, 2, 2), 2: curve(9, 9, 1, 1)},
    "held": {0: curve(9, 9, 2, 3), 1: curve(9, 9, 2, 4), 2: curve(9, 9, 1, 4), 3: curve(9, 9, 0, 0)},
    "league": {0: curve(9, 9, 4, 4), 1: curve(9, 9, 4, 6), 2: curve(9, 9, 4, 4)},
}


def test_differences_are_paired_by_seed_and_corrected_by_figure():
    rows = tests.differences(WAYS, ("self", "held", "league"))
    assert list(rows) == ["held less self", "league less self", "league less held"]
    assert rows["held less self"]["seeds"] == [0, 1, 2]
    row = rows["league less self"]
    theirs = stats.ttest_rel([4, 6, 4], [2, 2, 1])
    assert row["last"]["mean"] == 3.0
    assert row["last"]["p"] == pytest.approx(theirs.pvalue)
    assert (row["last"]["low"], row["last"]["high"]) == pytest.approx(tuple(theirs.confidence_interval()))
    assert row["second half"]["mean"] == pytest.approx((2.5 + 3.0 + 3.0) / 3)
    for figure in tests.FIGURES:
        raw = [pair[figure]["p"] for pair in rows.values()]
        assert [pair[figure]["holm_p"] for pair in rows.values()] == pytest.approx(holm(raw))


def test_differences_count_the_pairs_that_were_declared_and_not_run():
    some = {way: WAYS[way] for way in ("self", "league")}
    (row,) = tests.differences(some, ("self", "held", "league")).values()
    assert row["last"]["holm_p"] == pytest.approx(min(1.0, 3 * row["last"]["p"]))


def test_table_has_p_beside_holm_p_and_dashes_where_one_seed_says_nothing():
    rows = tests.differences(WAYS, ("self", "held"))
    first = {way: {0: seeds[0]} for way, seeds in WAYS.items()}
    *_, line = tests.table("kuhn", rows, tests.differences(first, ("self", "held")), 1).splitlines()
    last = rows["held less self"]["last"]
    assert line.startswith(f"| held less self-play | 2.0 [-0.5, 4.5] | {last['p']:.4f} | {last['holm_p']:.3f} | ")
    assert line.endswith("| \u2013 | \u2013 | \u2013 |")


def test_no_pair_of_the_kept_runs_survives_the_correction():
    games = json.loads((ROOT / "docs/results/league.json").read_text("utf-8"))["games"]
    for game, size in (("kuhn", 15), ("leduc", 6)):
        for apart in ("differences", "differences of averages"):
            rows = [row for pair in games[game][apart].values() for name, row in pair.items() if name != "seeds"]
            assert len(rows) == 2 * size
            assert min(row["holm_p"] for row in rows) > 0.05


def gaps_of(*values):
    return {claim: dict(zip(claims.SEEDS, values, strict=True)) for claim in claims.CLAIMS.comparisons}


def test_claims_are_tested_by_sign_flips_over_all_their_seeds():
    up = gaps_of(*(0.1 + 0.01 * seed for seed in claims.SEEDS))
    for row in claims.tested(up).values():
        assert row["p"] == 2 / 2**16
        assert row["holm_p"] == 4 / 2**16
        assert row["says"] == "supported"
    down = {claim: {seed: -gap for seed, gap in own.items()} for claim, own in up.items()}
    assert {row["says"] for row in claims.tested(down).values()} == {"contradicted"}
    even = gaps_of(*((-1) ** seed * 0.1 for seed in claims.SEEDS))
    assert {row["says"] for row in claims.tested(even).values()} == {"undecided"}


def test_claims_use_none_of_the_seeds_that_suggested_them_and_miss_none_of_their_own():
    kept = json.loads((ROOT / "docs/results/league.json").read_text("utf-8"))["games"]["kuhn"]
    assert not {str(seed) for seed in claims.SEEDS} & set(kept["league"]["curves"])
    gaps = gaps_of(*range(16))
    assert claims.missing(gaps) == []
    del gaps["average policy at the end"][7]
    assert claims.missing(gaps) == [7]


def test_jobs_plan_a_seed_of_everything_before_the_next():
    names = [run.name for run in league.jobs(claims.SEEDS)]
    assert names[:2] == ["kuhn-self-5", "kuhn-held-5"]
    assert len([name for name in names if name.startswith(("kuhn-league-", "kuhn-self-"))]) == 32
    assert all(run.changes["seed"] == run.name.rpartition("-")[2] for run in league.jobs(range(2)))
    seeds = [int(name.rpartition("-")[2]) for name in names]
    assert all(sooner <= later for sooner, later in pairwise(seeds))


@pytest.mark.parametrize(("game", "digits"), [("kuhn", 3), ("leduc", 2)])
def test_page_shows_the_differences_from_self_play_and_the_least_corrected_p_of_the_kept_runs(game, digits):
    data = json.loads((ROOT / "docs/results/league.json").read_text("utf-8"))["games"][game]
    page = (ROOT / "docs/results/league.md").read_text("utf-8")
    _, _, *lines = tests.table(game, data["differences"], data["differences of averages"], digits).splitlines()
    shown = [" | ".join(line.split(" | ")[:4]) for line in lines if " less self-play |" in line]
    assert len(shown) == len(league.WAYS[game]) - 1
    assert [line for line in shown if f"\n{line} |\n" not in page] == []
    rows = [row for apart in ("differences", "differences of averages") for row in data[apart].values()]
    least = min(figure["holm_p"] for row in rows for name, figure in row.items() if name != "seeds")
    said = {"kuhn": "any pair and figure is {}", "leduc": "(least {}, of six pairs)"}[game]
    assert said.format(f"{least:.3f}".removeprefix("0")) in " ".join(page.split())
    for name, pair in tests.differences(league_table.stored(data, league.WAYS[game]), league.WAYS[game]).items():
        for figure in tests.FIGURES:
            assert data["differences"][name][figure] == pytest.approx(pair[figure])


def league_run(folder, name, shift, *, over=True):
    """A run whose exploitability is .5 + shift, then .3 + shift, and in the second half .2 + shift twice."""
    values = [0.5, 0.3, 0.2, 0.2]
    metrics = [
        {"main/exact/exploitability": value + shift, "main/effective": 2.0, "main/points": 0.5} for value in values
    ]
    averages = [{"step": step, "average": 0.4 + shift} for step in (1, 3)]
    synthetic_run(folder, name, metrics, {"league.json": {"over_time": {"main": averages}}}, over=over)


def test_claims_are_measured_on_finished_runs_of_declared_seeds(tmp_path):
    for seed in (4, 5, 6):
        league_run(tmp_path, f"kuhn-league-{seed}", 0.01 * seed)
        league_run(tmp_path, f"kuhn-self-{seed}", 0.0, over=seed != 6)
    gaps = claims.measured(tmp_path)
    assert gaps == {claim: {5: pytest.approx(0.05)} for claim in claims.CLAIMS.comparisons}
    with pytest.raises(KeyError):
        claims.about(tmp_path)


def test_results_of_a_game_are_merged_by_seed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(league_table, "solvers", lambda game, at: {"CFR": [0.1 for _ in at]})
    for seed in (0, 1):
        league_run(tmp_path, f"kuhn-self-{seed}", 0.0)
        league_run(tmp_path, f"kuhn-held-{seed}", 0.1 + 0.01 * seed)
    old = {"self": {"curves": {"7": {"steps": [0, 1], "values": [9.0, 9.0]}}, "made by": {"7": {"commit": "d" * 40}}}}
    data = json.loads(json.dumps(league_table.of_game(tmp_path, "kuhn", old, None)))
    assert list(data["self"]["curves"]) == ["0", "1", "7"]
    assert data["self"]["made by"]["0"] == {
        "commit": "c" * 40,
        "command": "stratagem train kuhn-self-0",
        "dirty": False,
        "recipe": {},
    }
    assert data["held"]["last"]["mean"] == pytest.approx(0.305)
    assert data["held"]["averages"]["1"] == {"steps": [1, 3], "values": pytest.approx([0.51, 0.51])}
    gap = data["differences"]["held less self"]
    assert (gap["seeds"], gap["last"]["mean"]) == ([0, 1], pytest.approx(0.105))
    assert gap["last"]["holm_p"] == pytest.approx(min(1.0, 15 * gap["last"]["p"]))
    assert data["solvers"]["at"] == [1, 2, 3]
    assert "| held less self-play | 0.105 [" in capsys.readouterr().out
    assert league_table.of_game(tmp_path, "leduc", {}, None) == {}
