"""Titles, descriptions and units of the metrics of training."""

import re

import pytest

from stratagem.measure.figures.training import TRAINING
from stratagem.show.reports.facets import OF_GAME
from stratagem.show.reports.metric_reading import MetricNameParts, split_name, title_of, unit_of


@pytest.mark.parametrize(
    ("metric", "parts"),
    [
        ("loss", MetricNameParts("", "", "loss")),
        ("loss/ratio", MetricNameParts("", "", "loss/ratio")),
        ("loss/policy/ratio", MetricNameParts("", "policy", "loss/ratio")),
        ("shaper/loss/policy/ratio", MetricNameParts("shaper", "policy", "loss/ratio")),
        ("shaper/grad_norm", MetricNameParts("shaper", "", "grad_norm")),
        ("kl_sft/loss/kl", MetricNameParts("kl_sft", "", "loss/kl")),
        ("advantage/no_variance", MetricNameParts("", "", "advantage/no_variance")),
    ],
)
def test_parts_of_a_name(metric, parts):
    assert split_name(metric) == parts


def test_every_metric_of_training_on_the_page_of_runs_has_a_title():
    # those of games are lines of larger pictures, and those with capitals stand for several
    names = [figure.key for figure in TRAINING]
    single = [name for name in names if not re.search("[A-Z]{4}", name) and not OF_GAME.fullmatch(name)]
    assert {"loss/clip_fraction", "loss/nll", "checkpoint_metric"} <= set(single)
    assert [name for name in single if title_of(name)[0] == name] == []


def test_titles():
    clipped = "Terms whose gradient is removed by clipping."
    assert title_of("naive/loss/value/clip_fraction") == ("Clip fraction, value", clipped)
    assert title_of("one/learning_rate") == ("Learning rate", "Learning rate of the step.")
    assert title_of("one/of/a/package") == ("one/of/a/package", "")


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("naive/loss/policy/approx_kl", "nats a token"),
        ("naive/loss/value/clip_fraction", "share"),
        ("advantage/clipped", "share"),
        ("sft/loss/nll", "nats a token"),
        ("main/num_read", "tokens"),
        ("naive/loss/value/squared_error", ""),
    ],
)
def test_units(metric, unit):
    assert unit_of(None, metric) == unit
