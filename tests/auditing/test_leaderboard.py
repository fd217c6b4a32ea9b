"""Ranks of agents by the limits of their figures."""

import json
from dataclasses import replace

import pytest

from stratagem.base.errors import BadParameter, BadRecord, UnknownName
from stratagem.measure.audit.card import AuditCost, Card, read_card
from stratagem.measure.audit.checks.catalogue import CHECKS
from stratagem.measure.audit.leaderboard import exploitabilities, leaderboard
from stratagem.measure.audit.measurement import Measurement
from stratagem.measure.audit.probes.catalogue import PROBES, TALK_PROBES
from stratagem.measure.figures.audits import audit_figure


def card(agent, name, lower, value, upper):
    figure = Measurement(name=name, group="exploitability", value=value, lower=lower, upper=upper)
    return Card(agent, ("kuhn",), 10, 0, (figure,), {}, {}, AuditCost(), {})


WRONG = {
    "figures.0.holm_p": "",
    "figures.0.group": "<b>",
    "figures.0.example": 3,
    "figures.0.value": 10**400,
    "figures.0.deals": [1.0, float("nan")],
    "not_measured": {"kuhn.rules": None},
    "strategies": {"kuhn": [{"seat": "0", "situation": 1, "action": []}]},
    "cost.calls": 10**400,
    "cost.unsaid": [],
    "decisions": float("inf"),
    "draws": {"games": {"drawn": [{"game": "a", "value": "much"}]}},
}


@pytest.mark.parametrize("place", WRONG)
def test_card_with_a_field_of_another_type_is_no_card(tmp_path, place):
    """Cards come from anybody: one of them must not end a table of many, or the pages of its folder, in a traceback."""
    data = json.loads(json.dumps(CARDS[0].to_json()))
    (tmp_path / "card.json").write_text(json.dumps(data))
    assert read_card(tmp_path).agent == "loose"
    *above, last = place.split(".")
    inside = data
    for name in above:
        inside = inside[int(name) if name.isdecimal() else name]
    inside[last] = WRONG[place]
    (tmp_path / "card.json").write_text(json.dumps(data))
    with pytest.raises(BadRecord, match=r"is no (card|figure)"):
        read_card(tmp_path)


NAME = "kuhn.exploitability"
CARDS = [
    card("loose", NAME, 0.3, 0.4, 0.5),
    card("tight", NAME, 0.0, 0.1, 0.2),
    card("tied", NAME, 0.1, 0.15, 0.35),
    card("bounded", NAME, 0.25, None, None),
]


def test_limits_that_overlap_share_ranks():
    found = {place.agent: (place.best, place.worst) for place in leaderboard(CARDS, NAME)}
    assert found == {"tight": (1, 2), "tied": (1, 4), "bounded": (2, 4), "loose": (2, 4)}
    assert [place.agent for place in leaderboard(CARDS, NAME)] == ["tight", "tied", "bounded", "loose"]


def test_more_pay_is_better():
    cards = [card("poor", "kuhn.payoff_random", -0.2, -0.1, 0.0), card("rich", "kuhn.payoff_random", 0.1, 0.2, 0.3)]
    assert [(p.agent, p.best, p.worst) for p in leaderboard(cards, "kuhn.payoff_random")] == [
        ("rich", 1, 1),
        ("poor", 2, 2),
    ]


LESS_IS_BETTER = {
    *("exploitability", "dominated", "illegal", "change", "sequence", "words", "style", "injection", "neutral_text"),
    *("played", "excess_loss", "pool_advantage", "collusion", "externality", "betrayal", "gullibility"),
}


def test_every_quantity_of_an_audit_has_a_direction():
    quantities = {quantity for one in (*PROBES, *TALK_PROBES, *CHECKS) for quantity in one.quantities}
    assert {name for name in quantities if audit_figure(name).better == "lower"} == LESS_IS_BETTER
    assert {audit_figure(name).better for name in quantities} == {"lower", "higher"}


@pytest.mark.parametrize("name", ["kuhn.rules", "kuhn.rules_legal", "ipd(rounds=3).payoff_random.against", "talk.kept"])
def test_more_right_answers_more_promises_kept_and_a_gain_in_pay_are_better(name):
    cards = [card("poor", name, 0.1, 0.2, 0.3), card("rich", name, 0.7, 0.8, 0.9)]
    assert [(p.agent, p.best, p.worst) for p in leaderboard(cards, name)] == [("rich", 1, 1), ("poor", 2, 2)]


def test_agents_of_one_name_are_numbered_and_bad_input_is_refused():
    twice = [CARDS[0], replace(CARDS[0])]
    assert [place.agent for place in leaderboard(twice, NAME)] == ["loose (1)", "loose (2)"]
    with pytest.raises(UnknownName, match="did you mean kuhn"):
        leaderboard(CARDS, "kuhn.exploitabilty")
    with pytest.raises(BadParameter, match="at least two"):
        leaderboard(CARDS[:1], NAME)


def test_equal_figures_share_ranks_whatever_the_order_of_their_sums():
    cards = [card("one", NAME, value, value, value) for value in (1.0 / 3.0, 1.0 / 3.0 + 1e-16, 1.0 / 3.0 + 1e-4)]
    assert [(place.best, place.worst) for place in leaderboard(cards, NAME)] == [(1, 2), (1, 2), (3, 3)]


def test_a_board_has_the_exploitability_of_every_game_and_numbers_agents_within_one():
    other = card("tight", "ipd.exploitability", 0.3, 0.4, 0.5)
    empty = card("none", "leduc.exploitability", None, None, None)
    cards = [CARDS[1], other, empty, card("x", "kuhn.illegal", 0.0, 0.1, 0.2)]
    assert exploitabilities(cards) == [NAME, "ipd.exploitability"]
    assert [place.agent for name in exploitabilities(cards) for place in leaderboard(cards, name)] == ["tight", "tight"]
    with pytest.raises(BadParameter, match="no exploitability"):
        exploitabilities(cards[2:])
