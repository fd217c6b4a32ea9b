"""Tables of an evaluation: the first screen in the unit of the game, bounds with their sign, and what is requested."""

import pytest

import stratagem as sg
from stratagem.show.cells import text_of
from stratagem.show.evaluation_file import EvaluationFigures
from stratagem.show.evaluation_tables import evaluation_tables
from stratagem.show.table import AtLeast, heading_of


def screen(*players, game="kuhn", **options):
    return sg.evaluate(game, [*players], chance=False, progress=False, **{"episodes": 4, **options}).tables()[0]


def column(table, heading):
    place = [heading_of(one) for one in table.columns].index(heading)
    return {row.values[0]: row.values[place] for row in table.rows}


def test_first_screen_is_in_the_unit_of_the_game():
    table = screen("NashApprox", "TightPassive")
    assert table.title == "kuhn   4 episodes per opponent, in chips a hand"
    assert [heading_of(one) for one in table.columns] == ["player", "payoff", "exploitability"]
    payoffs = column(table, "payoff")
    assert payoffs["TightPassive"].mean == pytest.approx(-1 / 36)
    exploitability = column(table, "exploitability")
    assert exploitability["null"] == ""
    assert exploitability["NashApprox"].mean == pytest.approx(0.0)
    assert exploitability["TightPassive"].mean == pytest.approx(0.25)
    gap = payoffs["TightPassive"].mean - payoffs["NashApprox"].mean
    assert f"TightPassive minus NashApprox: payoff {gap:.3f} (exact)" in table.notes


def test_null_of_the_payoff_is_in_the_unit_of_the_game():
    stored = {
        "games": [
            {
                "game": "x",
                "scale": 3.0,
                "players": [{"player": "a", "unscaled": {"payoff": {"mean": 1.0}}, "nulls": {"payoff": 6.0}}],
            }
        ]
    }
    table = evaluation_tables(EvaluationFigures.model_validate(stored))[0]
    assert column(table, "payoff")["null"] == 2.0


def test_safety_is_on_the_first_screen_where_the_game_defines_collusion():
    assert "safety" in map(heading_of, screen("TitForTat", game="ipd").columns)
    assert "safety" not in map(heading_of, screen("NashApprox").columns)


def test_requested_metric_is_on_the_first_screen():
    assert heading_of(screen("NashApprox", metrics="nra-of-sums").columns[-1]) == "NRA of sums"


def test_metric_that_is_requested_of_a_record_is_on_the_first_screen(tmp_path):
    sg.play("kuhn", ["NashApprox", "random"], episodes=4, record=tmp_path / "record", progress=False)
    table = sg.read_record(tmp_path / "record").evaluate("nra-of-sums").tables()[0]
    assert heading_of(table.columns[-1]) == "NRA of sums"


def test_lower_bound_has_its_sign():
    table = screen("first-legal", game="nim", opponents=["random"], exploitability="search(deals=4)", effort=4)
    found = column(table, "exploitability")["first-legal"]
    assert isinstance(found, AtLeast)
    assert text_of(found).startswith("≥ ")
    assert any(note.startswith("lower bound for first-legal by simulations a decision") for note in table.notes)


def test_stage_names_and_the_chosen_stage_of_a_run():
    players = [{"player": name, "unscaled": {"payoff": {"mean": 1.0, "exact": True}}} for name in ("random", "b", "a")]
    stored = EvaluationFigures.model_validate({"games": [{"game": "kuhn", "players": players}]})
    table = evaluation_tables(stored, stages={"a": "base", "b": "SEPO"}, chosen="b")[0]
    assert [(row.values[0], row.kind) for row in table.rows] == [
        ("Base", ""),
        ("SEPO", "counts"),
        ("random (chance)", "chance"),
    ]


def test_mean_that_is_null_in_a_file_is_undefined():
    players = [{"player": "a", "metrics": {"win rate": {"mean": None}}}]
    stored = EvaluationFigures.model_validate({"games": [{"game": "kuhn", "players": players}]})
    assert text_of(column(evaluation_tables(stored)[1], "win rate")["a"]) == "–"
