"""Exploitability from replies in an evaluation: cells, lines, JSON, records, and reasons where there is none."""

import json
import math

import pytest
from test_asking import Told

import stratagem
from stratagem.base.errors import CannotCompute
from stratagem.games import Key, make_game
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.exploitability.replies import sampled_exploitability
from stratagem.players.catalogue import make_player

KUHN = make_game("kuhn")
UNIFORM = make_player("random", KUHN)


def sloppy(ask):
    """Random play that says nothing legal in a quarter of its turns."""
    return (None, "") if ask.key.at("sloppy").unit() < 0.25 else (ask.view.choices.sample(ask.key), "")


def evaluated(player, game="kuhn(hands=1)", **options):
    settings = {"opponents": ["random"], "episodes": 2, "chance": False, "progress": False}
    return stratagem.evaluate(game, player, **settings, **options)


def figures(evaluation):
    return {one.name: one.estimate for one in evaluation.figures()}


def test_player_that_states_nothing_gets_figures_with_limits():
    found = evaluated(Told(lambda ask: (UNIFORM.turn(ask).action, "")), effort=30)
    estimate, truth = figures(found)["exploitability"], exact(KUHN, UNIFORM).exploitability
    assert estimate.low < truth < estimate.high
    assert estimate.mean == pytest.approx(truth, abs=0.15)
    assert estimate.n == 360
    (row,) = found.to_json()["games"][0]["players"]
    assert row["from_replies"]["lower"] == estimate.low
    assert f"{estimate.mean:.3f} {estimate.low:.3f}…{estimate.high:.3f}" in str(found)


def test_player_that_states_its_probabilities_is_exact_still():
    found = evaluated("random", effort=30)
    assert figures(found)["exploitability"].exact
    assert "from_replies" not in found.to_json()["games"][0]["players"][0]


def test_recorded_replies_are_not_asked_for_again(tmp_path):
    player = Told(sloppy)
    first = evaluated(player, effort=4, record=tmp_path)
    asked = len(player.asked)
    assert asked >= 48
    again = evaluated(player, effort=4, record=tmp_path, resume=True)
    assert len(player.asked) == asked
    assert figures(again) == figures(first)
    read = stratagem.read_record(tmp_path).evaluate()
    assert figures(read)["payoff"] == figures(first)["payoff"]
    with pytest.raises(stratagem.StratagemError, match="policy_replies"):
        evaluated(player, effort=5, record=tmp_path, resume=True)


def test_line_tells_replies_and_what_was_illegal():
    found = evaluated(Told(sloppy), effort=20)
    (line,) = (note for note in found.tables()[0].notes if note.startswith("exploitability of "))
    assert " from 240 replies in 12 situations; each limit holds with 95 %, both together with 90 %, " in line
    assert "illegal, which count as the rules play them; " in line
    assert 0.15 < found.results[0].rows[0].exploitability.basis.illegal_rate < 0.35
    few = evaluated(Told(sloppy), effort=4)
    assert math.isnan(few.results[0].rows[0].exploitability.exploitability)
    assert any("too few for an estimate" in note for note in few.tables()[0].notes)


@pytest.mark.parametrize(
    ("player", "game", "says"),
    [
        (Told(sloppy), "ipd(rounds=1)", "no action for a reply that is none"),
        (Told(lambda ask: (ask.view.choices.first, "")), "negotiation-v1", "nodes"),
    ],
)
def test_reason_is_told_where_replies_give_no_figure(player, game, says):
    (result,) = evaluated(player, game, effort=8).results
    assert result.rows[0].exploitability.estimate is None
    assert any(says in warning and "no exploitability from replies" in warning for warning in result.warnings)


def test_exploitability_of_the_front_door():
    found = stratagem.exploitability("kuhn", Told(sloppy), effort=20)
    assert found.to_json()["lower"] <= float(found) <= found.to_json()["upper"]
    assert len(found.rows()) == 12
    assert json.loads(json.dumps(found.to_json()))["num_replies"] == 240
    assert "240 replies" in str(found)
    assert float(stratagem.exploitability("kuhn", "NashApprox", effort=20)) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("replies", [1, -3, 2.5, "x"])
def test_wrong_number_of_replies_is_refused(replies):
    with pytest.raises(stratagem.StratagemError, match="effort"):
        evaluated(Told(sloppy), effort=replies)


def test_nobody_is_asked_about_a_tree_that_is_large_for_replies_alone():
    """Each situation costs replies, of a server money."""
    game = make_game("tic-tac-toe")
    with pytest.raises(CannotCompute, match="beyond the budget of 500,000"):
        sampled_exploitability(game, make_player("random", game), Key(0))
