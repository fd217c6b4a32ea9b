"""Payoffs of two agents on the deals that both played: a deal is one observation, whoever the opponents are."""

from dataclasses import replace

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.common_deals import pay_on_common_deals
from stratagem.measure.matchups import Evaluator, mean_payoff
from stratagem.measure.metrics import METRICS
from stratagem.measure.metrics.base import Sample
from stratagem.measure.metrics.win_rate import WinRate
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


def test_the_mean_over_deals_is_the_payoff_where_games_differ_in_length():
    """Long games weigh more in a payoff a round, and so they do in the difference of two."""
    game = make_game("ipd(continuation=0.8)")
    opponents = [make_player(name, game) for name in ("random", "GrimTrigger")]
    rows = [
        [EVALUATOR.matchup(game, make_player(agent, game), opponent, ()) for opponent in opponents]
        for agent in ("random", "AlwaysDefect")
    ]
    lengths = {len(episode.rounds) for row in rows for matchup in row for episode in matchup.episodes}
    assert len(lengths) > 3
    found = pay_on_common_deals(rows)
    for number, row in enumerate(rows):
        of_deals = sum(deal[number] for deal in found) / len(found)
        assert of_deals == pytest.approx(mean_payoff(row, scaled=True).mean)


def test_a_payoff_that_is_the_same_in_every_round_has_no_spread_over_deals():
    """A defector gets 5 a round from a cooperator, however long they play; mutual cooperation, 3, is the scale's 3."""
    game = make_game("ipd(continuation=0.8)")
    made = (make_player(name, game) for name in ("AlwaysDefect", "AlwaysCooperate"))
    matchup = EVALUATOR.matchup(game, *made, ())
    assert len({len(episode.rounds) for episode in matchup.episodes}) > 3
    assert [own for (own,) in pay_on_common_deals([[matchup]])] == [pytest.approx(5.0)] * 10


class Moved:
    """Random play under the name of a model's place."""

    def __init__(self, place):
        self.name = f"dir:{place}/model"
        self._random = make_player("random", KUHN)
        self.traits, self.turn = self._random.traits, self._random.turn


def test_rates_over_models_of_one_name_have_a_cluster_a_deal():
    """Both play the same, so the second model adds no information."""
    agent = make_player("AlwaysBet", KUHN)
    first, second = map(Moved, ("one", "two"))
    one, both = EVALUATOR.matchup(KUHN, agent, first, ()), EVALUATOR.matchups(KUHN, agent, [(first, ()), (second, ())])
    assert len({episode.id for matchup in both for episode in matchup.episodes}) == 40
    assert len({episode.group for matchup in both for episode in matchup.episodes}) == 10
    alone, together = (WinRate().measure(Sample(KUHN, tuple(matchups))) for matchups in ([one], both))
    assert (together.mean, together.se) == (pytest.approx(alone.mean), pytest.approx(alone.se))
    assert together.se > 0.0


@pytest.mark.parametrize(
    "name", ["pool_advantage", "shifted_payoff", "length", "nra", "nra-of-sums", "nra-per-opponent"]
)
def test_means_over_models_of_one_name_have_an_observation_a_deal(name):
    """Both play the same, so the second model adds no information."""
    agent, pools = make_player("TightPassive", KUHN), ("train", "exploit", "collusive", "shifted")
    both = EVALUATOR.matchups(KUHN, agent, [(Moved(place), pools) for place in ("one", "two")])
    alone, together = (METRICS.measure(name, Sample(KUHN, tuple(matchups))) for matchups in (both[:1], both))
    assert (together.mean, together.se) == (pytest.approx(alone.mean), pytest.approx(alone.se))
    assert together.se > 0.0


@pytest.mark.parametrize("name", ["collusion", "externality"])
def test_signals_of_models_of_one_name_have_an_observation_a_deal(name):
    game = make_game("ipd")
    players = [make_player(one, game) for one in ("random", "TitForTat", "TitForTat")]
    one, two = (EVALUATOR.matchup(game, players[0], other, ("train", "collusive")) for other in players[1:])
    both = (one, replace(two, opponent="twin"))
    alone, together = (METRICS.measure(name, Sample(game, matchups)) for matchups in (both[:1], both))
    assert (together.mean, together.se) == (pytest.approx(alone.mean), pytest.approx(alone.se))
    assert together.se > 0.0


def test_every_opponent_counts_the_same_where_some_share_deals():
    first = met("TightPassive", "random")
    rows = [first, twin(first), met("TightPassive", "Bluffer")]
    found = [own for (own,) in pay_on_common_deals([rows])]
    assert len(found) == 20
    assert sum(found) / 20 == pytest.approx(sum(row.payoff().mean for row in rows) / 3)
