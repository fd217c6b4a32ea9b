"""Decision lists over facts: their value by other ways, how short they are, and what the facts of a view are."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from stratagem.base.errors import BadParameter
from stratagem.games.base import View
from stratagem.games.catalogue import make_game
from stratagem.games.kuhn import KuhnFacts
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.exploiters.fact_tests import FactTest, PlayRule, common_facts, list_tests
from stratagem.measure.exploiters.list_player import ExploiterMoves, ListPlayer
from stratagem.measure.exploiters.list_search import fit_lists, shortest
from stratagem.measure.exploiters.list_value import ListGame
from stratagem.measure.tree_policy import oracle_of, policies_on
from stratagem.players.base import Scripted, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.decision_list import DecisionList
from stratagem.players.fact_values import FactValues, fact_values

GAMES = {
    "kuhn": ("TightValue", "TightPassive", "random", "LooseAggressive"),
    "kuhn(hands=1)": ("TightValue", "random"),
    "ipd(rounds=3)": ("TitForTat", "AlwaysCooperate", "random"),
    "c-ipd(rounds=2)": ("TitForTat", "random"),
    "auction(rounds=2)": ("random", "first-legal"),
}


def list_game(game, player):
    oracle = oracle_of(game)
    return ListGame(oracle, policies_on(oracle.tree, player))


def value_in_play(game, player, rules):
    """Return the gain of a list over the player itself by exact play of whole games, which knows no tree."""
    seats, exploiter = range(game.spec.seats), ListPlayer(rules)
    own = expected_payoffs(game, [player] * len(seats))
    tables = [[exploiter if seat == own_seat else player for seat in seats] for own_seat in seats]
    won = [expected_payoffs(game, table).per_round(seat) for seat, table in enumerate(tables)]
    return math.fsum(won[seat] - own.per_round(seat) for seat in seats) / len(seats)


@pytest.mark.parametrize(("name", "agent"), [(game, agent) for game, agents in GAMES.items() for agent in agents])
def test_list_reaches_the_exact_best_response_as_it_is_played(name, agent):
    game = make_game(name)
    player = make_player(agent, game)
    lists = fit_lists(list_game(game, player))
    assert len(lists) <= 21
    assert lists[-1].gain == pytest.approx(exact(game, player).exploitability, abs=1e-9)
    for one in lists:
        assert value_in_play(game, player, one.rules) == pytest.approx(one.gain, abs=1e-9)
        assert len(one.rules) <= 20
    assert all(later.gain > one.gain for one, later in pairwise(lists))


def test_one_rule_takes_all_from_a_player_that_folds_to_bets():
    """TightValue is exploited by 1/6 of a chip a hand (see `exact`), and one bet with the king is enough."""
    game = make_game("kuhn")
    *_, best = fit_lists(list_game(game, make_player("TightValue", game)))
    assert best.gain == pytest.approx(1 / 6)
    assert best.rules == (PlayRule((FactTest("card", "==", "K"),), "BET"),)


def test_nothing_is_gained_from_an_equilibrium():
    game = make_game("kuhn")
    lists = fit_lists(list_game(game, make_player("NashApprox", game)))
    assert lists[-1].gain == pytest.approx(0.0, abs=1e-9)


def test_most_rules_are_kept_to():
    game = make_game("kuhn")
    lists = fit_lists(list_game(game, make_player("random", game)), most=2)
    assert len(lists) == 3
    assert len(lists[-1].rules) == 2


def test_shortest_list_has_the_share_that_is_asked_for():
    game = make_game("kuhn")
    lists = fit_lists(list_game(game, make_player("random", game)))
    gains = [one.gain for one in lists]
    assert len(gains) > 3
    assert shortest(lists, 0.8) is next(one for one in lists if one.gain >= 0.8 * gains[-1])
    assert shortest(lists, 1.0) is lists[-1]
    assert len(shortest(lists, 0.8).rules) < len(lists[-1].rules)


def test_improvements_are_what_single_changes_add():
    game = make_game("kuhn")
    problem = list_game(game, make_player("random", game))
    for tremble in (0.0, 0.3):
        adds, value = problem.improvements(problem.first, tremble), problem.value(problem.first, tremble)
        for number in range(len(problem.first)):
            for slots in problem.slots:
                changed = problem.first.copy()
                if slots[number] >= 0:
                    changed[number] = slots[number]
                    assert problem.value(changed, tremble) - value == pytest.approx(adds[slots[number]], abs=1e-12)


class Alternating(Scripted):
    """Plays otherwise in hands of its seat than in those of the other, so that rounds are of two kinds."""

    traits = Traits()

    def strategy(self, view):
        first, second = view.choices
        return first if view.facts.seat == 0 else second


def test_rules_hold_in_rounds_of_all_kinds():
    """A seat opens every second hand, so a list that names the seat would be right in half of the hands."""
    game = make_game("kuhn")
    problem = list_game(game, Alternating())
    assert len(problem.policies) == 2
    assert all("seat" not in facts and "opens" in facts for facts in problem.facts)
    *_, best = fit_lists(problem)
    assert value_in_play(game, Alternating(), best.rules) == pytest.approx(best.gain, abs=1e-9)
    assert best.gain <= exact(game, Alternating()).exploitability + 1e-9


def test_common_facts_are_those_with_one_value():
    one, other = FactValues(seat=0, card="K", past=1), FactValues(seat=1, card="K")
    assert common_facts([one, other]) == {"card": "K"}


def test_tests_tell_situations_apart_once_each():
    tables = [FactValues(a=1, b="x", c=5), FactValues(a=2, b="x", c=5), FactValues(a=3, b="y", c=5)]
    found = list_tests(tables, 100)
    assert found.tests[0] is None
    assert found.masks[0].all()
    assert len({mask.tobytes() for mask in found.masks}) == len(found.masks)
    for test, mask in zip(found.tests[1:], found.masks[1:], strict=True):
        assert test.fact != "c"
        assert [test.holds(facts) for facts in tables] == mask.tolist()


def test_facts_are_compared_with_each_other():
    tables = [FactValues(mine=m, open=o) for m in (1, 2, 3) for o in (1, 2, 3)]
    between = {
        (test.fact, test.sign, test.value): m
        for test, m in zip(*list_tests(tables, 100), strict=True)
        if test and test.between_facts
    }
    assert between["mine", "==", "open"].tolist() == [facts["mine"] == facts["open"] for facts in tables]
    assert between["mine", "<", "open"].tolist() == [facts["mine"] < facts["open"] for facts in tables]
    assert FactTest("mine", "<", "open", True).holds(tables[1])
    assert not FactTest("mine", "==", "open", True).holds(tables[1])


@pytest.mark.parametrize("sign", ["==", "<=", ">="])
def test_missing_fact_is_equal_to_nothing(sign):
    assert not FactTest("none", sign, 0).holds(FactValues())
    assert math.isnan(FactValues()["none"])
    assert not FactTest("text", sign, 0).holds(FactValues(text="x"))
    assert math.isnan(FactValues(text="x").number("text"))


def test_facts_of_a_view():
    game = make_game("kuhn")
    facts = fact_values(View(game, 1, KuhnFacts(1, "K", "PB", opens=True)))
    assert facts["card"] == "K"
    assert facts["line"] == "PB"
    assert (facts["line[0]"], facts["line[-1]"], facts["line count B"]) == ("P", "B", 1)
    assert (facts["opens"], facts["facing_bet"]) == ("yes", "yes")
    assert facts["can CALL"] == "yes"
    assert "can BET" not in facts


def test_facts_of_openspiel_are_read_from_its_words():
    game = make_game("leduc")
    oracle = oracle_of(game, 2_000_000)
    facts = [fact_values(known.view) for known in oracle.tree.information_sets[::50]]
    assert {one["Your card"] for one in facts} == {"J", "Q", "K"}
    assert {one["Private"] for one in facts} <= set(range(6))


def test_list_of_moves_agrees_with_them():
    game = make_game("kuhn")
    views = [known.view for known in oracle_of(game).tree.information_sets]
    moves = ["BET" if "BET" in view.choices else "CALL" if view.facts.card == "K" else "FOLD" for view in views]
    problem = ExploiterMoves(views, moves)
    assert problem.value(problem.first) == sum(
        move == view.choices.first for view, move in zip(views, moves, strict=True)
    )
    *_, best = fit_lists(problem)
    assert best.gain == 1.0
    assert [ListPlayer(best.rules).strategy(view) for view in views] == moves
    adds = problem.improvements(problem.first)
    for number, slots in ((n, s) for n in range(len(views)) for s in problem.slots):
        changed = problem.first.copy()
        if slots[number] >= 0:
            changed[number] = slots[number]
            assert problem.value(changed) - problem.value(problem.first) == pytest.approx(adds[slots[number]])


class Listed(DecisionList):
    """Two rules, of which the first is not always legal."""

    lists: ClassVar = {
        "kuhn(hands=1)": lambda facts: iter([(facts["card"] == "K", "BET"), (True, "CALL"), (True, "FOLD")])
    }


def test_rule_without_a_legal_action_is_passed_over():
    for name in ("kuhn(hands=1)", "kuhn"):  # rules of a game also play it with other parameters
        game = make_game(name)
        Listed().check(game)
        king, jack = (View(game, 1, KuhnFacts(1, card, "", opens=False)) for card in "KJ")
        facing = View(game, 1, KuhnFacts(1, "K", "B", opens=False))
        assert [Listed().strategy(view) for view in (king, jack, facing)] == ["BET", "PASS", "CALL"]


def test_game_without_rules_is_refused():
    with pytest.raises(BadParameter, match=r"has no rules for ipd.*: it plays kuhn"):
        Listed().check(make_game("ipd"))


def test_scale_of_a_gain_is_that_of_the_exploitability():
    """A game whose length varies divides by its expected rounds, as `exact` does."""
    game = make_game("ipd(rounds=3)")
    player = make_player("random", game)
    problem = list_game(game, player)
    assert problem.scale == pytest.approx(2 * 3.0)
    assert problem.gain(problem.best_value) == pytest.approx(exact(game, player).exploitability)
    assert problem.gain(problem.own_value) == 0.0
    assert replace(problem, policies=problem.policies).best_value == problem.best_value
    assert np.isfinite(problem.best_value)
