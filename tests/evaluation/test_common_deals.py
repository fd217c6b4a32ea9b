"""Payoffs of two agents on the deals that both played: a deal is one observation, whoever the opponents are."""

from dataclasses import replace

import pytest

from stratagem.evaluation.matchups import Evaluator, pay_on_common_deals
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player

KUHN = make_game("kuhn")
EVALUATOR = Evaluator(20, Key(3), budget=0)


def met(agent, opponent):
    return EVALUATOR.matchup(KUHN, make_player(agent, KUHN), make_player(opponent, KUHN), ())


def twin(matchup):
    """Return the same games as against another opponent, as two models of one name play the same deals."""
    return replace(matchup, opponent="twin")


def test_opponents_on_the_same_deals_share_observations():
    rows = [met(agent, "random") for agent in ("TightPassive", "AlwaysBet")]
    alone = pay_on_common_deals([[row] for row in rows])
    assert len(alone) == 10
    assert pay_on_common_deals([[row, twin(row)] for row in rows]) == [pytest.approx(deal) for deal in alone]


def test_every_opponent_counts_the_same_where_some_share_deals():
    first = met("TightPassive", "random")
    rows = [first, twin(first), met("TightPassive", "Bluffer")]
    found = [own for (own,) in pay_on_common_deals([rows])]
    assert len(found) == 20
    assert sum(found) / 20 == pytest.approx(sum(row.payoff().mean for row in rows) / 3)
