"""Catalogue of figures: one key, one label and one unit each, and nothing is printed that is not in it."""

import math
from collections import defaultdict

import pytest

import stratagem as sg
from stratagem.errors import UnknownName
from stratagem.evaluation.figures.catalogue import all_figures, figures_of, find_figure, stored_figure
from stratagem.evaluation.figures.figure import Figure
from stratagem.evaluation.metrics import METRICS
from stratagem.evaluation.statistics import Estimate, exactly
from stratagem.show.cells import number, pieces_of, text_of
from stratagem.show.table import AtLeast, Limits, Numbers

FIGURES = {figure.key: figure for figure in all_figures()}
TALK = "talk(kuhn(hands=1), before=round, intents=[state])"
CALLS = {
    "evaluate": lambda: sg.evaluate("kuhn", ["NashApprox", "tiny"], episodes=2, by_seat=True, disguise=1),
    "suite": lambda: sg.evaluate("nim", "random", opponents=["first-legal"], episodes=2),
    "match": lambda: sg.play("kuhn", "random", episodes=2),
    "exploitability": lambda: sg.exploitability("kuhn", "random"),
    "tournament": lambda: sg.tournament("kuhn", ["NashApprox", "AlwaysBet"], episodes=2),
}


def test_keys_are_unique_and_every_metric_is_there():
    keys = [figure.key for figure in all_figures()]
    assert len(keys) == len(set(keys))
    assert set(METRICS) <= set(keys)


def test_one_label_has_one_unit_and_one_direction():
    of_label = defaultdict(set)
    for figure in all_figures():
        of_label[figure.label].add((figure.unit, figure.better))
    same_word = {"illegal": {("share of turns", "lower"), ("share", "lower")}}
    assert {label: units for label, units in of_label.items() if len(units) > 1} == same_word


@pytest.mark.parametrize("figure", FIGURES.values(), ids=list(FIGURES))
def test_explanation_stands_after_a_colon(figure):
    if figure.unit.endswith("a decision"):
        return  # the unit says it: tokens and milliseconds
    assert figure.explanation
    assert not figure.explanation.endswith(".")
    assert figure.better in ("higher", "lower", "neither")


@pytest.mark.parametrize("name", CALLS)
def test_printed_figures_are_those_of_the_catalogue(name):
    result = CALLS[name]()
    for table in result.tables():
        assert all(figure == find_figure(key) for key, figure in table.figures.items())
        for row in table.rows:
            assert len(row.values) == len(table.columns)
            sampled = [place for place, value in enumerate(row.values) if isinstance(value, Estimate | float)]
            assert all(not isinstance(table.columns[place], str) for place in sampled), "a number without a figure"
        # a column of numbers without a figure of its own is a seat, a stage or an opponent
        assert not any(isinstance(column, Numbers) for column in table.columns) or name == "tournament"


def test_metric_of_a_file_is_a_figure_under_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "from stratagem.evaluation.metrics import Metric\n"
        'class Own(Metric):\n    """The square of nothing.\n\n    More."""\n'
        "    name, better, digits = 'own', 'lower', 1\n"
        "    def measure(self, sample):\n        return None\n"
    )
    sg.allow(tmp_path / "own.py")
    assert stored_figure("own.py:Own") == Figure("own.py:Own", "own.py:Own"), "no file is loaded for a stored name"
    figure = find_figure("own.py:Own")
    assert stored_figure("own.py:Own") == figure
    assert (figure.key, figure.label, figure.digits) == ("own.py:Own", "own.py:Own", 1)
    assert figure.explanation == "the square of nothing"
    del METRICS["own.py:Own"]


def test_unknown_figure_is_named_with_the_known_ones():
    with pytest.raises(UnknownName, match="There is no figure called 'exploitabilty': did you mean exploitability"):
        figures_of("pay", "exploitabilty")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (math.nan, "–"),
        ("a name", "a name"),
        (1234567, "1,234,567"),
        (-0.0001, "0.000"),
        (exactly(0.25), "0.250"),
        (Estimate(1.0, 0.1, 20), "1.000 ±0.100"),
        (Estimate(1.0, None, 1), "1.000 ±?"),
        (Estimate(0.5, n=100, low=0.25, high=0.75), "0.500 0.250…0.750"),
        (Estimate(0.5, n=4, low=0.25, high=0.75), "0.500 0.250…0.750 n=4"),
        (AtLeast(Estimate(0.5, n=100, low=0.25, high=0.75)), "≥ 0.500 0.250…0.750"),
        (Limits(0.25, 0.75), "0.250…0.750"),
        ((0.5, -0.5), "0.500 / -0.500"),
        (FIGURES["nash_conv"], "NashConv"),
    ],
)
def test_texts_of_values(value, text):
    assert text_of(value) == text
    assert "".join(piece.figure for piece in pieces_of(value)) in text


def test_number_has_no_negative_zero():
    assert number(-1e-9) == "0.000"
    assert number(-0.25, 1) == "-0.2"
