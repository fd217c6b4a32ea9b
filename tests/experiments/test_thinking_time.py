"""The experiment on thinking time: intervals of payoffs."""

import pytest
import thinking_time

from stratagem.measure.statistics import with_interval


def row(payoffs, game="connect-four"):
    return {"game": game, "payoff": with_interval(payoffs).to_json()}


def test_fifty_deals_that_were_all_won_are_no_certainty():
    """Of all other deals at most 1 - .025^(1/50) may be lost (Clopper and Pearson 1934)."""
    assert thinking_time.ends(row([1.0] * 50)) == pytest.approx((1.0 - 2.0 * (1.0 - 0.025 ** (1 / 50)), 1.0))
    assert thinking_time.format_interval(row([-1.0] * 50)) == "-1.000 [-1.000, -0.858]"
    assert thinking_time.format_interval(row([1.0, -1.0] * 25)).startswith("0.000 ± 0.28")
