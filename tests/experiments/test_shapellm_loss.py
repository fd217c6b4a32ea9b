"""First lead of a shaper: when it begins, when it is lost, and what comes later."""

import pytest
from shapellm_loss import Lead, lead, rows

TRIALS = [5.0, 10.0, 15.0, 20.0, 25.0]


@pytest.mark.parametrize(
    ("gaps", "found"),
    [
        ([0.0, 0.9, 0.2, 0.0, 0.0], Lead(None, None, None)),
        ([0.0, 1.0, 0.6, 2.0, 3.0], Lead(10.0, None, None)),
        ([0.0, 2.0, 0.4, 2.0, 0.0], Lead(10.0, 15.0, 0.5)),
        ([0.0, 0.0, 0.0, 2.0, 0.4], Lead(20.0, 25.0, None)),
        ([0.0, 2.0, 0.6, -1.0, 0.9], Lead(10.0, 20.0, 0.0)),
    ],
)
def test_first_lead(gaps, found):
    assert lead(TRIALS, gaps) == found


def test_a_lead_at_a_sixth_of_the_rates_is_shorter_in_full_rates():
    def curve(*values):
        return [[trial, value] for trial, value in zip(TRIALS, values, strict=True)]

    run = {"seed": 3, "trials": 25, "seats": ["shaper", "naive"]}
    run["curves"] = {"shaper/payoff": curve(1, 3, 3, 3, 1), "naive/payoff": curve(1, 1, 1, 1, 1)}
    run["rows"] = [{"figures": {"shaper/payoff": 1.0, "naive/payoff": 1.25}}]
    (row,) = rows({"tiny/ipd-long-6": [run]})
    assert row == ["1/6", "25", "3", "10", "25", "2.5", "–", "1.00 / 1.25"]
