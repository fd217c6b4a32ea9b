"""Shares of an advantage estimator's counts as metrics, by hand."""

import pytest

from stratagem.learn.advantages.base import Decisions
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.training.policy import advantage_metrics


def test_shares_are_of_groups_of_advantages_and_of_rows():
    counts = {"groups": 8, "groups_without_variance": 1, "groups_of_one": 3, "discarded": 0}
    counts |= {"advantages": 10, "advantages_clipped": 1, "rows": 20, "double_negative": 5}
    assert advantage_metrics(counts) == {
        "advantage/no_variance": 0.5,
        "advantage/clipped": 0.1,
        "advantage/double_negative": 0.25,
    }


@pytest.mark.parametrize("counts", [{}, {"groups": 0, "groups_without_variance": 0}, {"rows": 4, "discarded": 1}])
def test_nothing_is_said_of_what_was_not_counted(counts):
    assert advantage_metrics(counts) == {}


@pytest.mark.parametrize(("combine", "share"), [("add", None), ("multiply", 0.25), ("magnitude", 0.0)])
def test_an_estimator_counts_the_rows_that_a_product_reinforces(combine, share):
    """The second turn is below the group's mean, and has one bad order of two."""
    decisions = Decisions(
        episode=[0, 0, 1, 1], group=[0] * 4, terms={"payoff": [3.0, 0.0, 1.0, 0.0]}, weight=[1.5, -1.5, 0.5, -1.5]
    )
    estimator = read_advantage(f"per_order(combine={combine}, of=group_mean(normalize_std=False))").value
    metrics = advantage_metrics(estimator(decisions).counts)
    assert metrics.get("advantage/double_negative") == share
    assert metrics["advantage/no_variance"] == 0.0
