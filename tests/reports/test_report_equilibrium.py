"""The policy against the equilibria on a page: what is drawn, and for which games."""

import pytest
from made_runs import START, begun, keep_policy, whole, write
from reading import Page

from stratagem.measure.equilibria import kuhn_family
from stratagem.show.reports.report import report_html


def test_what_is_drawn_is_the_policy_and_the_family(tmp_path):
    page = Page(report_html(whole(tmp_path / "run")))
    traces = page.traces_of("equilibrium")
    assert len(traces) == 4 * 5
    bands = [trace for trace in traces if trace["role"] == "band"]
    drawn = [base + width / 2 for band in bands for base, width in zip(band["base"], band["x"], strict=True)]
    assert drawn == pytest.approx([(place.low + place.high) / 2 for place in kuhn_family().places])
    for role, share in (("start", 0.0), ("chosen", 0.4), ("last", 1.0)):
        shown = [x for trace in traces if trace["role"] == role for x in trace["x"]]
        assert shown == pytest.approx(
            [(1 - share) * 0.5 + share * kuhn_family().at(place, 0.2) for place in kuhn_family().places]
        )
    (rows,) = page.tables_of("equilibrium")
    assert rows[0][1:4] == ["SFT", "SEPO (step 8)", "SEPO, last (step 20)"], "as in the evaluation"
    assert rows[1] == ["J, First to act: bets", "0.500", "0.380", "0.200", "0.000 \u2026 0.333", "0.198"]


def test_a_policy_that_lacks_a_situation_is_drawn_without_it(tmp_path):
    run = begun(tmp_path / "run")
    write(run, "policies/kuhn-0.json", {"step": 0, "game": "kuhn", "policy": {"J:": {"BET": 0.25, "PASS": 0.75}}})
    traces = Page(report_html(run)).traces_of("equilibrium")
    assert next(trace["x"] for trace in traces if trace["role"] == "start") == [0.25, None, None]


@pytest.mark.runs
def test_the_first_moves_of_another_game_are_a_table(tmp_path):
    run = begun(tmp_path / "run", game="ipd")
    write(run, "policies/ipd-0.json", {"step": 0, "game": "ipd", "policy": {"": {"COOPERATE": 0.75, "DEFECT": 0.25}}})
    page = Page(report_html(run))
    assert "equilibrium" not in page.sections
    assert page.tables_of("openings")[0][1:] == [
        ["start of the game", "COOPERATE", "0.750"],
        ["start of the game", "DEFECT", "0.250"],
    ]


@pytest.mark.parametrize(("game", "is_it"), [("kuhn", True), ("kuhn(hands=1)", True), ("spiel:kuhn_poker", False)])
def test_section_stands_for_games_with_a_family(game, is_it, tmp_path):
    run = begun(tmp_path / "run", game="auction")
    keep_policy(run, START, game.replace("/", "-"))
    assert ("equilibrium" in Page(report_html(run)).sections) == is_it
