"""Metric `honesty`: from recorded and from exact play, with its level by chance."""

from dataclasses import replace

import pytest

from stratagem.games import Key, make_game
from stratagem.measure.matchups import Evaluator
from stratagem.measure.metrics import METRICS, Sample
from stratagem.players.catalogue import make_player

GAME = make_game("sender-receiver")


def sample(agent, *opponents, game=GAME):
    """The agent's matchups, exact and played."""
    evaluator = Evaluator(episodes=400, key=Key(1))
    made = [evaluator.matchup(game, make_player(agent, game), make_player(o, game), ("train",)) for o in opponents]
    return Sample(game, tuple(made))


@pytest.mark.parametrize(
    ("agent", "honest"), [("Honest", 1.0), ("Inverter", 0.0), ("Liar(p=0.3)", 0.7), ("Babbler", 1 / 6)]
)
def test_honesty_is_the_share_of_true_statements(agent, honest):
    exact = sample(agent, "Honest", "Babbler")
    assert METRICS["honesty"].measure(exact).mean == pytest.approx(honest)
    played = replace(exact, matchups=tuple(replace(matchup, expectations=()) for matchup in exact.matchups))
    estimate = METRICS["honesty"].measure(played)
    assert abs(estimate.mean - honest) <= 4 * (estimate.se or 0.0) + 1e-9


def test_honesty_of_chance_is_one_in_the_number_of_states():
    assert METRICS["honesty"].null(sample("random", "Honest")) == pytest.approx(1 / 6)


@pytest.mark.parametrize("text", ["kuhn(hands=1)", "sender-receiver(labels=3)"])
def test_games_without_statements_have_no_honesty(text):
    game = make_game(text)
    made = sample("random", "random", game=game)
    assert METRICS["honesty"].measure(made) is METRICS["honesty"].null(made) is None
