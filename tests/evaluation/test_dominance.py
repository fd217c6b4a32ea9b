"""Dominated actions: what is known of Kuhn poker and of matrix games, and a search for what refutes them."""

import itertools
import re

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixGame
from stratagem.measure import dominance
from stratagem.measure.dominance import DominatedPlay, dominated_actions
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.openings import opening_views
from stratagem.players.base import Traits

FACTS = {
    "J:B": [DominatedPlay("CALL", "FOLD", strict=True)],
    "J:PB": [DominatedPlay("CALL", "FOLD", strict=True)],
    "K:B": [DominatedPlay("FOLD", "CALL", strict=True)],
    "K:PB": [DominatedPlay("FOLD", "CALL", strict=True)],
    "K:P": [DominatedPlay("PASS", "BET", strict=False)],
}
"""A jack never wins a showdown and a king never loses one; after a pass a king's bet can only gain. No opening is."""


@pytest.mark.parametrize("game", ["kuhn(hands=1)", "kuhn"])
def test_dominated_actions_of_kuhn_are_those_known(game):
    assert dominated_actions(make_game(game)) == FACTS


def test_no_opening_of_kuhn_is_dominated():
    assert not {"J:", "Q:", "K:"} & dominated_actions(make_game("kuhn")).keys()


def test_defection_dominates_in_one_round_of_a_dilemma_and_not_in_two():
    once = dominated_actions(make_game("ipd(rounds=1)"))
    assert list(once.values()) == [[DominatedPlay("COOPERATE", "DEFECT", strict=True)]] * 2
    first = make_game("ipd(rounds=2)").start(Key(0)).view(0).info_key
    twice = dominated_actions(make_game("ipd(rounds=2)"))
    assert first not in twice, "what is played later may hang on what was played first"
    assert len(twice) == 2 * 4, "in the last round it is dominated, whatever came first"


def test_matching_pennies_and_the_stag_hunt_have_none():
    for game in ("imp(rounds=1)", "ish(rounds=1)"):
        assert dominated_actions(make_game(game)) == {}


def test_actions_that_never_differ_dominate_neither():
    """A weakly dominated action pays less somewhere."""
    assert dominated_actions(MatrixGame(payoffs=(((1, 2), (0, 2)), ((1, 2), (0, 2))), rounds=1)) == {}


def test_a_fold_of_a_sure_hand_of_leduc_is_dominated():
    """A pair wins every showdown of the second round, and no other hand is sure to; so these folds and no others."""
    game = make_game("leduc")
    found = dominated_actions(game)
    folds = {key for key, every in found.items() if any(one.action == "fold" for one in every)}
    views = {view.info_key: list(view.choices) for view in opening_views(game, limit=2000).values()}
    assert folds == {key for key, actions in views.items() if "fold" in actions and has_pair(key)}
    assert len(folds) == 120


def has_pair(key):
    cards = re.search(r"Private: (\d).*Public: (\d)", key)
    return cards is not None and int(cards[1]) // 2 == int(cards[2]) // 2


def test_too_many_situations_are_refused():
    with pytest.raises(CannotCompute, match="too many situations"):
        dominated_actions(make_game("kuhn"), budget=20)


class Fixed:
    """Plays one pure policy of kuhn."""

    traits = Traits(exact=True, memory=1)
    name = "fixed"

    def __init__(self, table):
        self.table = table

    def policy(self, view):
        return {self.table.get(view.info_key, view.choices.first): 1.0}


@pytest.mark.parametrize(("key", "found"), [(key, one) for key, every in FACTS.items() for one in every])
def test_a_dominated_action_is_worse_or_equal_against_every_pure_opponent(key, found):
    """By brute force over all pure policies of the other seat, for both own policies that differ only there."""
    game = make_game("kuhn(hands=1)")
    own = 0 if key.endswith("PB") else 1
    theirs = [f"{card}:{line}" for card in "JQK" for line in (("", "PB") if own else ("P", "B"))]
    words = [("FOLD", "CALL") if name.endswith("B") else ("PASS", "BET") for name in theirs]
    gaps = []
    for said in itertools.product(*words):
        other = Fixed(dict(zip(theirs, said, strict=True)))
        pays = []
        for action in (found.action, found.by):
            pair = [Fixed({key: action}), other] if own == 0 else [other, Fixed({key: action})]
            pays.append(expected_payoffs(game, pair).per_round(own))
        gaps.append(pays[1] - pays[0])
    assert min(gaps) >= -1e-12
    assert max(gaps) > 1e-12


def test_a_game_far_beyond_the_budget_is_refused_before_it_is_walked(monkeypatch):
    monkeypatch.setattr(dominance, "starts", None)
    for text in ("tic-tac-toe", "auction", "imp"):
        with pytest.raises(CannotCompute, match="too many situations to look for dominated actions"):
            dominated_actions(make_game(text))
    with pytest.raises(TypeError):
        dominated_actions(make_game("leduc"))
