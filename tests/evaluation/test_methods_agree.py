"""Five methods of exploitability behind one function: known values, and agreement with the exact figure."""

import math
from functools import cache

import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.exploitability.measurement import ExploitabilitySettings, exploitability, methods_for
from stratagem.measure.exploitability.methods import METHODS, read_method
from stratagem.measure.matchups import Evaluator
from stratagem.players.catalogue import make_player

KUHN = make_game("kuhn(hands=1)")
RANDOM = 11 / 24
"""Exploitability of random play in Kuhn poker, chips a hand (OpenSpiel: NashConv 11/12)."""
EFFORTS = {"replies": 100, "search": 20, "learn": 600}


@cache
def measured(method, player, game=KUHN):
    how = ExploitabilitySettings(method, EFFORTS.get(method), Key(5), deals=100)
    return exploitability(game, make_player(player, game), how)


@pytest.fixture(scope="module")
def served():
    """Name of random play at a server that tells log-probabilities, for the method that needs one."""
    with sg.serve(["random"], KUHN, port=0) as server:
        yield f"lm(api:random@{server.url}, mode=prefix)"


@pytest.mark.parametrize("method", METHODS)
def test_method_agrees_with_the_exact_figure(method, served):
    found = measured(method, served if method == "scored" else "random")
    estimate = found.estimate
    assert found.method == method
    assert found.unit == "chips a hand"
    assert found.why_not == ""
    low = estimate.mean if estimate.low is None else estimate.low
    assert low <= RANDOM + 1e-5
    if not found.is_bound:
        high = estimate.mean if estimate.high is None else estimate.high
        assert high >= RANDOM - 1e-5
    assert found.exploitability == pytest.approx(RANDOM, abs=0.15)
    assert found.nash_conv == pytest.approx(2 * found.exploitability)


@pytest.mark.parametrize("method", METHODS)
def test_method_has_figures_by_seat_or_moves(method, served):
    found = measured(method, served if method == "scored" else "random")
    assert bool(found.by_seat) is not bool(found.moves)
    assert len(found.by_seat) in (0, 2)
    assert all(
        math.isclose(gain, best - own)
        for gain, best, own in zip(found.gains, found.best_responses, found.values, strict=True)
    )
    assert (found.exploiter is None) is (method in ("exact", "scored"))
    assert set(found.to_json())


@pytest.mark.runs
@pytest.mark.parametrize("method", ["replies", "search", "learn"])
def test_exploiter_is_a_player_that_gains(method):
    found = measured(method, "AlwaysBet")
    matchup = Evaluator(400, Key(9)).matchup(KUHN, found.exploiter, make_player("AlwaysBet", KUHN), ())
    assert matchup.payoff(scaled=False).mean > 0.1


def test_player_is_an_exploiter():
    found = exploitability(KUHN, make_player("AlwaysBet", KUHN), ExploitabilitySettings("NashApprox", 50, Key(1)))
    assert (found.method, found.is_bound, found.exploiter.name) == ("player", True, "kuhn/NashApprox")
    assert found.estimate.low <= measured("exact", "AlwaysBet").exploitability


def test_result_without_an_estimate_says_why():
    found = measured("exact", "mcts:2")
    assert found.estimate is None
    assert found.why_not == "mcts:2 cannot state its probabilities, so only play can measure it."
    assert found.to_json() == {"not_computed": found.why_not}
    assert found.metrics() == {}
    with pytest.raises(sg.StratagemError, match="cannot state its probabilities"):
        assert found.exploitability


@pytest.mark.parametrize(
    ("player", "effort", "methods"),
    [
        ("random", None, ("exact",)),
        ("random", 8, ("exact",)),
        ("mcts:2", None, ("exact",)),
        ("mcts:2", 8, ("exact", "replies")),
        ("lm(api:m@http://localhost:1, mode=prefix)", 8, ("exact", "scored", "replies")),
    ],
)
def test_auto_tries_methods_in_this_order(player, effort, methods):
    assert methods_for(make_player(player, KUHN), ExploitabilitySettings(effort=effort)) == methods


def test_auto_keeps_the_reasons_of_methods_before():
    found = exploitability(KUHN, make_player("mcts:2", KUHN), ExploitabilitySettings(effort=8))
    assert found.method == "replies"
    assert found.why_not_exact == "mcts:2 cannot state its probabilities, so only play can measure it."


@pytest.mark.parametrize("text", ["exact(deals=3)", "search(effort=3)", "learn(5)", "auto(deals=2)"])
def test_unknown_option_of_a_method_is_refused(text):
    with pytest.raises(BadParameter, match=r"search\(deals=20\)"):
        read_method(text)


@pytest.mark.parametrize("method", METHODS[2:])
def test_front_door_has_every_method(method):
    found = sg.exploitability("kuhn(hands=1)", "AlwaysBet", method, effort=8)
    assert found.found.method == method
    assert float(found) == found.found.exploitability
    assert found.rows()
    assert "exploitability" in repr(found)
