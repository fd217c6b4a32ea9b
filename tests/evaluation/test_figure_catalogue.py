"""Catalogue of figures: one key, one label and one unit each, and nothing is printed that is not in it."""

import math
from collections import defaultdict
from functools import cache

import pytest

import stratagem as sg
from stratagem.base.errors import UnknownName
from stratagem.measure.audit.checks.catalogue import CHECKS
from stratagem.measure.audit.probes import bound
from stratagem.measure.audit.probes.catalogue import DRAWS, PROBES, TALK_PROBES
from stratagem.measure.audit.probes.exploiter import ExploiterProbe
from stratagem.measure.figures.audits import OF_AUDITS, audit_figure
from stratagem.measure.figures.catalogue import all_figures, figures_of, find_figure, stored_figure
from stratagem.measure.figures.figure import Figure
from stratagem.measure.figures.training import TRAINING
from stratagem.measure.metrics import METRICS
from stratagem.measure.report import unit_in
from stratagem.measure.statistics import Estimate, exactly
from stratagem.show.cells import number, pieces_of, text_of
from stratagem.show.table import AtLeast, FigureLimits, NamedFigure, Numbers

FIGURES = {figure.key: figure for figure in all_figures()}
TALK = "talk(kuhn(hands=1), before=round, intents=[state])"
CALLS = {
    "evaluate": cache(
        lambda: sg.evaluate("kuhn(hands=1)", ["NashApprox", "tiny"], episodes=2, by_seat=True, disguise=1)
    ),
    "suite": cache(lambda: sg.evaluate("kuhn", "random", opponents=["first-legal"], episodes=2)),
    "match": lambda: sg.play("kuhn", "random", episodes=2),
    "exploitability": lambda: sg.exploitability("kuhn", "random"),
    "tournament": lambda: sg.tournament("kuhn", ["NashApprox", "AlwaysBet"], episodes=2),
    "talk": lambda: sg.talk(TALK, "liar(NashApprox)", "believer(NashApprox)"),
    "talk by play": lambda: sg.talk(TALK, "liar(NashApprox)", "believer(NashApprox)", episodes=4),
    "audit": lambda: sg.audit("TightPassive", games="kuhn", decisions=297, progress=False),
    "collusion": lambda: sg.collusion("talk(auction(seats=3, rounds=1))", "random", "random", "random", deals=2),
}


def test_keys_are_unique_and_every_metric_is_there():
    keys = [figure.key for figure in all_figures()]
    assert len(keys) == len(set(keys))
    assert set(METRICS) <= set(keys)


def test_one_label_has_one_unit_and_one_direction():
    of_label = defaultdict(set)
    for figure in (*all_figures(), *TRAINING):
        of_label[figure.label.casefold()].add((figure.unit, figure.better))
    same_word = {"illegal": {("share of turns", "lower"), ("share of replies", "lower")}}
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
    for table in CALLS[name]().tables():
        assert not numbers_without_figure(table)
        assert all(figure == find_figure(key) for key, figure in table.figures.items())


def numbers_without_figure(table):
    """Columns of numbers that no figure declares: their heading, one beside it, or the name of their row."""
    beside = any(isinstance(column, Figure) for column in table.columns)
    found = set()
    for row in table.rows:
        assert len(row.values) == len(table.columns)
        named = beside or any(isinstance(value, Figure | NamedFigure) for value in row.values)
        for column, value in zip(table.columns, row.values, strict=True):
            number = isinstance(value, Estimate | FigureLimits | float) and not isinstance(column, Figure | Numbers)
            found |= {column} if number or (isinstance(column, Numbers) and not named) else set()
    return found


def test_numbers_of_a_card_have_the_unit_of_the_catalogue(tmp_path, monkeypatch):
    monkeypatch.setattr(bound, "SIMULATIONS", 10)  # which lower bound is found does not matter
    folders = []
    for player in ("TightPassive", "LooseAggressive"):
        found = sg.audit(player, games=["kuhn(hands=1)", TALK], decisions=600, progress=False, out=tmp_path / player)
        folders.append(tmp_path / player)
        for one in found.card.figures:
            game = sg.game(one.name.rpartition(".")[0])
            assert audit_figure(one.name) in OF_AUDITS, f"{one.name} is not in the catalogue"
            assert one.unit == unit_in(game, audit_figure(one.name))
    ranking = sg.rank_audits(folders, "kuhn(hands=1).exploitability")
    for table in (*sg.compare_audits(*folders).tables(), *ranking.tables()):
        assert table.figures
        assert not numbers_without_figure(table)


def test_every_quantity_of_an_audit_is_in_the_catalogue():
    quantities = {name for one in (*PROBES, *TALK_PROBES, DRAWS, ExploiterProbe, *CHECKS) for name in one.quantities}
    assert {figure.key for figure in OF_AUDITS} == {f"GAME.{name}" for name in quantities}


def test_talk_has_the_keys_of_the_catalogue():
    exact, played = CALLS["talk"](), CALLS["talk by play"]()
    names = {"game", "speaker", "reader", "seat", "episodes", "prompts", "requests"}
    for result in (exact, played):
        keys = {key.removesuffix("_by_chance") for row in result.rows() for key in row} - names
        assert keys
        assert all(find_figure(key).key == key for key in keys)
    levels = {key: one["chance"] for key, one in played.rows()[0].items() if isinstance(one, dict) and "chance" in one}
    declared = {key for key in levels if find_figure(key).null}
    assert {key for key, level in levels.items() if level is not None} <= declared
    assert {key for key in declared if find_figure(key).null == "0"} <= {key for key in levels if levels[key] == 0.0}


def test_figures_of_an_evaluation_and_of_their_rows_have_keys_of_the_catalogue():
    for name in ("evaluate", "suite"):
        assert all(find_figure(row["figure"]).key == row["figure"] for row in CALLS[name]().rows())


def test_metric_of_a_file_is_a_figure_under_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "from stratagem.measure.metrics import Metric\n"
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
        figures_of("payoff", "exploitabilty")


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
        (FigureLimits(0.25, 0.75), "0.250…0.750"),
        (FigureLimits(0.25, None), "≥ 0.250"),
        (FigureLimits(None, 0.75), "≤ 0.750"),
        (NamedFigure(FIGURES["GAME.illegal"], "kuhn.illegal"), "kuhn.illegal"),
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
