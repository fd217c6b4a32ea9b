"""The league's comparisons: paired by seed, corrected within declared families, claims tested when all seeds are in."""

import argparse
import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from scipy import stats

from stratagem.evaluation.statistics import holm
from stratagem.runs.metrics import Curve

ROOT = Path(__file__).resolve().parents[2]
league, tests, claims = (import_module(name) for name in ("league", "league_tests", "league_claims"))


def curve(*values):
    return Curve(list(range(len(values))), list(values))


WAYS = {
    "self": {0: curve(9, 9, 1, 2), 1: curve(9, 9, 2, 2), 2: curve(9, 9, 1, 1)},
    "held": {0: curve(9, 9, 2, 3), 1: curve(9, 9, 2, 4), 2: curve(9, 9, 1, 4), 3: curve(9, 9, 0, 0)},
    "league": {0: curve(9, 9, 4, 4), 1: curve(9, 9, 4, 6), 2: curve(9, 9, 4, 4)},
}


def test_differences_are_paired_by_seed_and_corrected_by_figure():
    found = tests.differences(WAYS, ("self", "held", "league"))
    assert list(found) == ["held less self", "league less self", "league less held"]
    assert found["held less self"]["seeds"] == [0, 1, 2]
    row = found["league less self"]
    theirs = stats.ttest_rel([4, 6, 4], [2, 2, 1])
    assert row["last"]["mean"] == 3.0
    assert row["last"]["p"] == pytest.approx(theirs.pvalue)
    assert (row["last"]["low"], row["last"]["high"]) == pytest.approx(tuple(theirs.confidence_interval()))
    assert row["second half"]["mean"] == pytest.approx((2.5 + 3.0 + 3.0) / 3)
    for figure in tests.FIGURES:
        raw = [pair[figure]["p"] for pair in found.values()]
        assert [pair[figure]["holm_p"] for pair in found.values()] == pytest.approx(holm(raw))


def test_differences_count_the_pairs_that_were_declared_and_not_run():
    some = {way: WAYS[way] for way in ("self", "league")}
    (row,) = tests.differences(some, ("self", "held", "league")).values()
    assert row["last"]["holm_p"] == pytest.approx(min(1.0, 3 * row["last"]["p"]))


def test_markdown_has_p_beside_holm_p_and_dashes_where_one_seed_says_nothing():
    found = tests.differences(WAYS, ("self", "held"))
    first = {way: {0: seeds[0]} for way, seeds in WAYS.items()}
    *_, line = tests.markdown("kuhn", found, tests.differences(first, ("self", "held")), 1)
    last = found["held less self"]["last"]
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
    down = {claim: {seed: -gap for seed, gap in told.items()} for claim, told in up.items()}
    assert {row["says"] for row in claims.tested(down).values()} == {"contradicted"}
    even = gaps_of(*((-1) ** seed * 0.1 for seed in claims.SEEDS))
    assert {row["says"] for row in claims.tested(even).values()} == {"undecided"}


def test_claims_use_none_of_the_seeds_that_suggested_them_and_miss_none_of_their_own():
    kept = json.loads((ROOT / "docs/results/league.json").read_text("utf-8"))["games"]["kuhn"]
    assert not {str(seed) for seed in claims.SEEDS} & set(kept["league"]["curves"])
    found = gaps_of(*range(16))
    assert claims.missing(found) == []
    del found["average policy at the end"][7]
    assert claims.missing(found) == [7]


def test_jobs_make_the_seeds_and_the_ways_that_were_asked_for():
    names = [run.name for run in league.jobs(["kuhn-league-", "kuhn-self-"], claims.SEEDS)]
    assert len(names) == 32
    assert names[:3] == ["kuhn-self-5", "kuhn-league-5", "kuhn-self-6"]
    assert all(run.changes == {"seed": run.name.rpartition("-")[2]} for run in league.jobs(["leduc"], range(2)))
    seeds = [int(run.name.rpartition("-")[2]) for run in league.jobs([""], range(3))]
    assert all(sooner <= later for sooner, later in pairwise(seeds))


def test_seeds_are_a_number_or_a_range():
    assert league.which_seeds("5") == range(5)
    assert league.which_seeds("5-20") == range(5, 21) == claims.SEEDS
    with pytest.raises(argparse.ArgumentTypeError, match="as 5, nor a range, as 5-20"):
        league.which_seeds("5,6")


@pytest.mark.parametrize(("game", "digits"), [("kuhn", 3), ("leduc", 2)])
def test_page_shows_every_pair_of_the_kept_runs(game, digits):
    found = json.loads((ROOT / "docs/results/league.json").read_text("utf-8"))["games"][game]
    page = (ROOT / "docs/results/league.md").read_text("utf-8")
    lines = list(tests.markdown(game, found["differences"], found["differences of averages"], digits))
    assert "\n".join(lines) in page
    for name, pair in tests.differences(kept(found, "curves"), league.WAYS[game]).items():
        for figure in tests.FIGURES:
            assert found["differences"][name][figure] == pytest.approx(pair[figure])


def kept(found, name):
    """The curves of the JSON as the scripts read them."""
    return {
        way: {int(seed): Curve(one["steps"], one["values"]) for seed, one in own[name].items()}
        for way, own in found.items()
        if way in tests.NAMES
    }
