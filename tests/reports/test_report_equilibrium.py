"""The yardstick of kuhn's policy: the family of equilibria, its nearest member, and how far a policy is from it."""

import pytest
from made_runs import START, begun, keep_policy, whole, write
from reading import Page

from stratagem.evaluation.exact import exact
from stratagem.evaluation.openings import opening_policy
from stratagem.games.catalogue import make_game
from stratagem.players.kuhn import NashApprox
from stratagem.reports.equilibrium_family import ALPHA_MAX, KUHN, distance, nearest_alpha, places
from stratagem.reports.report import report_html

# SPEC's formulas, by hand: bets where nobody has, calls where somebody has
LOW = {"J:": 0, "Q:": 0, "K:": 0, "J:PB": 0, "Q:PB": 1 / 3, "K:PB": 1}
HIGH = {"J:": 1 / 3, "Q:": 0, "K:": 1, "J:PB": 0, "Q:PB": 2 / 3, "K:PB": 1}
SECOND = {"J:P": 1 / 3, "Q:P": 0, "K:P": 1, "J:B": 0, "Q:B": 1 / 3, "K:B": 1}


def test_the_family_is_kuhns():
    assert {place.key: place.low for place in places()} == pytest.approx(LOW | SECOND)
    assert {place.key: place.high for place in places()} == pytest.approx(HIGH | SECOND)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.25, ALPHA_MAX])
def test_a_member_of_the_family_is_found_and_is_at_no_distance(alpha):
    player = NashApprox(alpha)
    policy = opening_policy(make_game("kuhn"), player)
    assert nearest_alpha(policy) == pytest.approx(alpha)
    assert distance(policy) == pytest.approx(0.0, abs=1e-12)
    assert exact(make_game("kuhn"), player).exploitability == pytest.approx(0.0, abs=1e-12)


def test_the_nearest_member_stays_in_the_family():
    always = {place.key: {"CALL" if place.line.endswith("B") else "BET": 1.0} for place in places()}
    assert nearest_alpha(always) == ALPHA_MAX
    assert distance(always) == pytest.approx(sum(1 - place.high for place in places()) / 12)
    assert nearest_alpha({"J:": {"BET": 0.2, "PASS": 0.8}}) == pytest.approx(0.2)
    assert nearest_alpha({}) == 0.0


def test_what_is_drawn_is_the_policy_and_the_family(tmp_path):
    page = Page(report_html(whole(tmp_path / "run")))
    traces = page.traces_of("equilibrium")
    assert len(traces) == 4 * 5
    bands = [trace for trace in traces if trace["role"] == "band"]
    drawn = [base + width / 2 for band in bands for base, width in zip(band["base"], band["x"], strict=True)]
    assert drawn == pytest.approx([(place.low + place.high) / 2 for place in places()])
    for role, share in (("start", 0.0), ("chosen", 0.4), ("last", 1.0)):
        shown = [x for trace in traces if trace["role"] == role for x in trace["x"]]
        assert shown == pytest.approx([(1 - share) * 0.5 + share * place.at(0.2) for place in places()])
    (rows,) = page.tables_of("equilibrium")
    assert rows[0][1:4] == ["SFT", "SEPO (step 8)", "SEPO, last (step 20)"], "as in the evaluation"
    assert rows[1] == ["J, First to act: bets", "0.500", "0.380", "0.200", "0.000 \u2026 0.333", "0.198"]


def test_a_policy_that_lacks_a_situation_is_drawn_without_it(tmp_path):
    run = begun(tmp_path / "run")
    write(run, "policies/kuhn-0.json", {"step": 0, "game": "kuhn", "policy": {"J:": {"BET": 0.25, "PASS": 0.75}}})
    traces = Page(report_html(run)).traces_of("equilibrium")
    assert next(trace["x"] for trace in traces if trace["role"] == "start") == [0.25, None, None]


def test_the_first_moves_of_another_game_are_a_table(tmp_path):
    run = begun(tmp_path / "run", game="ipd")
    write(run, "policies/ipd-0.json", {"step": 0, "game": "ipd", "policy": {"": {"COOPERATE": 0.75, "DEFECT": 0.25}}})
    page = Page(report_html(run))
    assert "equilibrium" not in page.sections
    assert page.tables_of("openings")[0][1:] == [["the start", "COOPERATE", "0.750"], ["the start", "DEFECT", "0.250"]]


@pytest.mark.parametrize(("game", "is_it"), [("kuhn", True), ("kuhn(hands=1)", True), ("spiel:kuhn_poker", False)])
def test_which_games_are_kuhn(game, is_it, tmp_path):
    assert bool(KUHN.fullmatch(game)) == is_it
    run = begun(tmp_path / "run", game="auction")
    keep_policy(run, START, game.replace("/", "-"))
    assert ("equilibrium" in Page(report_html(run)).sections) == is_it
