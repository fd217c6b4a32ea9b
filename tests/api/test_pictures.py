"""Pictures of results: what is drawn follows from the figures that the tables declare, with intervals and nulls."""

import plotly.graph_objects as go
import pytest

import stratagem as sg
from stratagem.api.pictures import bars
from stratagem.base.errors import UnknownName
from stratagem.measure.figures.catalogue import find_figure
from stratagem.measure.statistics import Estimate, exactly
from stratagem.show.series import choose, drawn_of
from stratagem.show.table import AtLeast, FigureLimits, NamedFigure, Numbers, ResultTable, TableRow, text_table

PAY, HONESTY, SAFETY = (find_figure(key) for key in ("payoff", "honesty", "safety"))
ROWS = [("a", Estimate(0.5, se=0.1, n=9), Estimate(0.25, low=0.1, high=0.5)), ("b", exactly(0.0), None)]
TABLE = text_table("a game", ("player", HONESTY, SAFETY), ROWS)
NULL = TableRow(("null", 0.3, ""), "null")


def with_null(table, row=NULL):
    return ResultTable(table.title, table.columns, (*table.rows, row))


def test_column_of_a_figure_is_a_series_with_its_null():
    drawn = choose([with_null(TABLE)])
    assert drawn.figure is HONESTY, "the first one with an interval"
    (series,) = drawn.series
    assert (series.values, series.nulls) == ({"a": ROWS[0][1], "b": exactly(0.0)}, {"a": 0.3, "b": 0.3})
    (safety,) = drawn_of([with_null(TABLE)])["safety"].series
    assert (safety.values, safety.nulls) == ({"a": ROWS[0][2]}, {}), "what is missing is not drawn"


def test_rows_that_figures_name_are_series_by_column():
    columns = ("figure", Numbers("seat 0"), Numbers("null"), Numbers("seat 1"), Numbers("null"))
    table = text_table(
        "talk", columns, [(HONESTY, exactly(0.5), 0.1, exactly(0.75), 0.2), (SAFETY, None, "", None, "")]
    )
    (drawn,) = drawn_of([table]).values()
    assert [(one.name, one.values["honesty"].mean, one.nulls) for one in drawn.series] == [
        ("seat 0", 0.5, {"honesty": 0.1}),
        ("seat 1", 0.75, {"honesty": 0.2}),
    ]


def test_numbers_of_a_card_are_drawn_by_their_names_within_limits():
    figure = find_figure("GAME.exploitability")
    rows = [
        (NamedFigure(figure, "kuhn.exploitability"), Estimate(0.2, low=0.1, high=0.4), 0.5, 12),
        (NamedFigure(figure, "nim.exploitability"), FigureLimits(0.1, None), None, 9),
    ]
    table = text_table("card", ("figure", *map(Numbers, ("value", "random play", "n"))), rows)
    drawn = choose([table], "exploitability")
    (series,) = drawn.series
    assert [*series.values] == ["kuhn.exploitability", "nim.exploitability"]
    assert (series.nulls, series.level) == ({"kuhn.exploitability": 0.5}, "random play")
    bar, level = bars(drawn).data
    assert list(bar.y) == [0.2, 0.1]
    assert list(bar.error_y.array) == pytest.approx([0.2, 0.0])
    assert list(bar.error_y.arrayminus) == pytest.approx([0.1, 0.0])
    assert (level.name, list(level.y)) == ("random play", [0.5])


def test_main_tables_come_first_and_exploitability_before_others():
    further = ResultTable(
        "further", ("player", find_figure("exploitability")), (TableRow(("a", AtLeast(exactly(0.1)))),), main=False
    )
    assert choose([TABLE, further]).figure is HONESTY
    assert choose([TABLE, further], "exploitability").series[0].values == {"a": exactly(0.1)}
    twice = ResultTable("twice", TABLE.columns, TABLE.rows, main=False)
    assert [one.title for one in choose([TABLE, twice], "honesty").series] == ["a game"]
    paid = text_table("paid", ("player", HONESTY, PAY), [("a", exactly(1.0), exactly(2.0))])
    assert choose([paid]).figure is PAY
    with pytest.raises(UnknownName, match="There is no figure of this result called 'honest': did you mean honesty"):
        choose([paid], "honest")


def test_matrix_of_a_tournament_is_drawn_unless_a_figure_is_named():
    found = sg.tournament("kuhn", ["NashApprox", "AlwaysBet"], episodes=2)
    (heat,) = found.plot().data
    assert isinstance(heat, go.Heatmap)
    assert [list(row) for row in heat.z] == [
        [found.cross_play.payoff[row][column].mean for column in found.cross_play.ranking()]
        for row in found.cross_play.ranking()
    ]
    (bar,) = found.plot("mean_against_others").data
    assert list(bar.y) == [found.cross_play.means[row].mean for row in found.cross_play.ranking()]


def test_exploitability_from_replies_is_drawn_with_its_limits():
    found = sg.exploitability("kuhn(hands=1)", "mcts:2", "replies", effort=10)
    (bar,) = found.plot().data
    estimate = found.found.estimate
    assert list(bar.y) == [estimate.mean]
    assert list(bar.error_y.array) == pytest.approx([estimate.high - estimate.mean])
    assert list(sg.exploitability("kuhn(hands=1)", "TightPassive").plot().data[0].x) == ["0", "1"]


def test_payoffs_of_a_record_are_drawn(tmp_path):
    played = sg.play("kuhn", ["NashApprox", "random"], episodes=4, record=tmp_path / "record")
    assert [*sg.read_record(tmp_path / "record").plot().data[0].y] == [*played.plot().data[0].y]
