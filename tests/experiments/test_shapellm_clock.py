"""The effect of an update schedule is paired by seed, and corrected over the whole family."""

from pathlib import Path

import pytest
import shapellm_clock
from result_tables import read_results
from shapellm import clock_alone, clock_tiny
from shapellm_clock import CLAIM_SEEDS, FAMILY, FAMILY_SEEDS, claim_rows, effects, rows

RESULTS = Path(__file__).resolve().parents[2] / "docs/results"


def run(seed, first, second):
    figures = {"one/payoff": first, "two/payoff": second}
    return {"seed": seed, "seats": ["one", "two"], "rows": [{"figures": figures}]}


def data(seeds):
    noise = [0.01 * seed for seed in range(seeds)]
    return {
        "tabular/icg-slow-trial-even": [run(seed, 3.0 + noise[seed], 1.0) for seed in range(seeds)],
        "tabular/icg-slow-episode-even": [run(seed, 2.0, 1.5) for seed in reversed(range(seeds))],
        "tiny/ipd-trial-reciprocal": [run(0, None, 1.0), run(1, 1.0, 1.0)],
        "tiny/ipd-episode-reciprocal": [run(0, 1.0, 1.0), run(1, 0.0, 1.0)],
    }


def test_effects_are_paired_by_seed_and_leave_out_runs_without_a_payoff():
    gaps = effects(data(3))
    assert gaps["tables, slow, icg, even"] == pytest.approx({0: 1.5, 1: 1.51, 2: 1.52})
    assert gaps["tiny, ipd, reciprocal"] == {1: 1.0}
    assert len(gaps) == 2


def test_a_comparison_is_corrected_for_all_that_were_declared():
    table = {row[0]: row for row in rows(data(10))}
    assert len(FAMILY) == 30
    p, adjusted = map(float, table["tables, slow, icg, even"][3:])
    assert p == pytest.approx(2 / 2**10, abs=1e-3)
    assert adjusted == pytest.approx(30 * 2 / 2**10, abs=1e-3)
    assert table["tiny, ipd, reciprocal"][3:] == ["too few seeds", ""]


def test_five_seeds_are_not_tested():
    assert {row[3] for row in rows(data(5))} == {"too few seeds"}
    assert 2 / 2**shapellm_clock.MIN_SEEDS < 0.05


def chicken(seeds):
    return {
        "tiny/icg-trial-even": [run(seed, 3.0 + 0.01 * seed, 1.0) for seed in seeds],
        "tiny/icg-episode-even": [run(seed, 1.0, 3.0) for seed in seeds],
    }


def test_the_claim_about_chicken_uses_only_seeds_that_did_not_suggest_it():
    assert min(CLAIM_SEEDS) > 1
    (row,) = claim_rows(chicken(range(12)))
    assert row[1] == "10"
    assert [float(value) for value in row[3:]] == pytest.approx([2 / 2**10] * 2, abs=1e-3)


def test_the_claim_is_not_tested_before_its_last_seed():
    (row,) = claim_rows(chicken(range(11)))
    assert row[1] == "9"
    assert row[3:] == ["too few seeds", ""]
    assert claim_rows(chicken(range(2))) == []


def test_seeds_of_the_claim_alone_do_not_enter_the_family():
    (row,) = rows(chicken(range(12)))
    assert row[1] == str(len(FAMILY_SEEDS)) == "10"


def test_the_schedule_alone_is_compared_with_the_arm_that_has_its_settings():
    data = {**chicken(range(12)), "tiny/icg-alone-even": [run(seed, 2.0, 1.5) for seed in range(12)]}
    (row,) = claim_rows(data, "alone")
    assert row[:2] == ["tiny, icg, even", "10"]
    assert row[2].startswith("+1.56 ")  # 2.065 for the seeds 2 to 11, less .5
    assert claim_rows(chicken(range(12)), "alone") == []


def test_the_arm_of_the_schedule_alone_differs_in_nothing_else():
    (alone,), trials = clock_alone([3]), {planned.name: planned for planned in clock_tiny([3])}
    trial = trials["tiny-icg-trial-even-3"]
    assert alone.name == "tiny-icg-alone-even-3"
    assert alone.recipes == trial.recipes
    assert alone.changes == {**trial.changes, "seats.shaper.update_every": "1"}


def test_the_page_has_the_least_p_of_the_stored_runs():
    published = read_results(RESULTS / "shapellm.json")
    page = " ".join((RESULTS / "shapellm.md").read_text("utf-8").split())
    tested = [row for row in rows(published) if row[3] != "too few seeds"]
    assert {row[4] for row in tested if float(row[4]) < 0.05} == set(), "the page says that none is significant"
    least = min(tested, key=lambda row: float(row[3]))
    assert least[0] == "tables, slow, c-ipd, reciprocal"
    effect, p, corrected = (least[column].replace("0.", ".") for column in (2, 3, 4))
    told = f"The least p is {p}, of tables at the slow rate in the cooperative dilemma: {effect}, Holm p {corrected}."
    assert told in page


def test_the_page_has_the_claims_of_the_stored_runs():
    published = read_results(RESULTS / "shapellm.json")
    page = (RESULTS / "shapellm.md").read_text("utf-8").replace("\n  ", " ").replace("\n", " ")
    (lead,), (alone,) = (claim_rows(published, arm) for arm in ("episode", "alone"))
    for row in (lead, alone):
        assert row[1] == "10"
        assert row[2].removeprefix("+").replace("0.", ".") in page
        assert f"p = {row[4].removeprefix('0')}" in page
