"""The verdict says no more than its figures do."""

import json
import math

import pytest
from made_runs import begun, evaluated, found, write
from reading import Page

from stratagem.base.number_texts import number, short
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate
from stratagem.show.reports.numbers import differs, interval, mean_with_interval
from stratagem.show.reports.report import report_html
from stratagem.show.reports.verdict import change


def exactly(value):
    return Estimate(mean=value, exact=True)


def sampled(value, se):
    return Estimate(mean=value, se=se, n=20)


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (exactly(0.3), exactly(0.1), "x fell from 0.300 to 0.100 chips"),
        (exactly(-0.1), exactly(0.1), "x rose from \u22120.100 to 0.100 chips"),
        (exactly(0.1), exactly(0.1), "x stayed at 0.100 chips"),
        (
            sampled(0.3, 0.1),
            sampled(0.1, 0.1),
            "x changed from 0.300 to 0.100 chips (not significant at the 5 % level)",
        ),
        (sampled(0.3, 0.01), sampled(0.1, 0.01), "x fell from 0.300 to 0.100 chips"),
        (sampled(0.3, None), exactly(0.1), "x changed from 0.300 to 0.100 chips (standard error unknown)"),
        (None, exactly(0.1), "x is not available"),
        (Estimate(math.nan), exactly(0.1), "x is not available"),
    ],
)
def test_a_change_is_told_with_its_error(first, last, said):
    assert change("x", first, last, "chips") == said


def test_apart_is_beyond_both_errors_together():
    """Both errors together are 5, and Student's quantile of 20 observations is 2.093."""
    assert differs(sampled(0.0, 3.0), sampled(10.5, 4.0))
    assert not differs(sampled(0.0, 3.0), sampled(10.4, 4.0))


def won(deals, of):
    return Estimate(**rate(range(of), lambda deal: deal < deals, lambda _: 1.0, lambda deal: deal).to_json())


@pytest.mark.parametrize(("before", "after", "apart"), [(7, 10, False), (10, 7, False), (0, 3, False), (3, 10, True)])
def test_a_rate_of_all_or_nothing_has_an_error(before, after, apart):
    """Of ten deals each: Fisher's exact test has p = .21 for 7 and 10, .21 for 0 and 3, and .003 for 3 and 10."""
    assert differs(won(before, 10), won(after, 10)) == apart


def test_the_mean_of_rates_that_are_all_one_has_an_interval():
    found, one = mean_with_interval([won(10, 10)] * 4), won(10, 10)
    assert (found.mean, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1.0 - (1.0 - one.low) / 2.0)
    assert mean_with_interval([one, Estimate(mean=0.5)]).low is None


def test_an_interval_is_the_figures_own_where_it_has_one():
    assert interval(Estimate(mean=0.5, se=0.1, low=0.2, high=0.9)) == (0.2, 0.9)
    assert interval(sampled(1.0, 1.0)) == pytest.approx((1.0 - 2.093024, 1.0 + 2.093024))  # Student's, of 20
    assert interval(Estimate(mean=1.0, se=1.0)) == pytest.approx((-0.959964, 2.959964))  # of an unknown number
    assert interval(exactly(1.0)) is interval(sampled(1.0, None)) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-0.0004, "0.000"),
        (-1.5, "\u22121.500"),
        (None, "\u2013"),
        (math.nan, "\u2013"),
        (math.inf, "\u221e"),
        (-math.inf, "\u2212\u221e"),
    ],
)
def test_numbers(value, said):
    assert number(value) == said


def test_small_and_large_numbers_are_short():
    assert short(5e-4) == "5.00e\u221204"
    assert short(-123456.0) == "\u22121.23e+05"
    assert short(0.0) == "0.000"


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ({}, "The checks found nothing."),
        ({"a": found()["alike"], "b": found()["alike"]}, "The checks found 2 notes."),
        (found(), "The checks found 1 fault and 1 note."),
    ],
)
def test_findings_are_counted_by_level(tmp_path, findings, said):
    run = begun(tmp_path / "run")
    write(run, "findings.json", findings)
    assert said in Page(report_html(run)).texts[""]


def test_where_a_stage_is_not_exact_the_pool_is_told_of(tmp_path):
    run = begun(tmp_path / "run")
    evaluation = evaluated()
    evaluation["games"][0]["players"][0]["exact"] = {"not_computed": "It cannot state its probabilities."}
    rows = {"kuhn/LooseAggressive": "base", "kuhn/NashApprox": "SEPO (step 8)"}
    write(run, "evaluation.json", {"rows": rows, "evaluation": evaluation})
    html = report_html(run)
    assert "kuhn: from Base to SEPO (step 8), pool advantage fell from 0.083 to 0.000 and" in Page(html).texts[""]
    assert "no exact figure: It cannot state its probabilities." in Page(html).texts["results"]


def test_a_contest_without_safety_is_told_by_pay_and_standing_or_by_games_won(tmp_path):
    """Diplomacy has centres, a board game win rates; poker is won by chips, so its win rate tells nothing."""
    for game, figures, said in (
        (
            "diplomacy",
            {"payoff": (0.1, 0.2), "centres": (3.0, 5.0)},
            "payoff rose from 0.100 to 0.200 and centres rose from 3.000 to 5.000",
        ),
        ("nim", {"win rate": (0.4, 0.6), "payoff": (0.1, 0.2)}, "the win rate rose from 0.400 to 0.600."),
        (
            "leduc",
            {"win rate": (0.4, 0.6), "payoff": (0.3, 0.1)},
            "leduc: from SFT to GRPO (step 3), payoff fell from 0.3",
        ),
    ):
        run = begun(tmp_path / game, algorithm="grpo")
        players = [
            {"player": name, "metrics": {what: {"mean": both[place], "exact": True} for what, both in figures.items()}}
            for place, name in enumerate(("before", "after"))
        ]
        games = [{"game": game, "players": players}]
        told = {"rows": {"before": "SFT", "after": "GRPO (step 3)"}, "evaluation": {"games": games}}
        (run.path / "evaluation.json").write_text(json.dumps(told))
        assert said in Page(report_html(run)).texts[""]
