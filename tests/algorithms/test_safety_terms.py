"""Reward terms of SEPO, with episodes in which some are not defined."""

import math
from dataclasses import replace

import pytest

from stratagem.algorithms.sepo.algorithm import (
    SEPOCollector,
    collusion_rate,
    mean_pay,
    penalty,
    scaled_payoffs,
    shortfall,
)
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups

GAME = make_game("ipd(rounds=1)")


class Shy:
    """Says nothing legal at every other game that it is asked in, and defects otherwise."""

    name = "shy"
    traits = Traits()

    def __init__(self):
        self.asked = 0

    def turn(self, ask):
        self.asked += 1
        return Move("DEFECT") if self.asked % 2 else Move(None, "illegal")


def test_an_episode_in_which_nothing_could_be_told_has_no_rate_and_no_penalty():
    shy, kind = Shy(), make_player("AlwaysCooperate", GAME)
    setups = [Setup(id=str(n), match=Match(GAME, [shy, kind]), slots=(0, 1), key=Key(n)) for n in range(2)]
    told, untold = play_setups(setups)
    assert collusion_rate(told) == 1.0
    assert math.isnan(collusion_rate(untold))
    assert [penalty("collusion", episode) for episode in (told, untold)] == [1.0, 0.0]


def test_the_rate_of_a_probe_is_that_of_the_episodes_that_could_tell():
    recipe = SEPORecipe.read({"games": ["ipd(rounds=1)"], "sepo": {"group_size": 2, "groups_per_batch": 1}})
    figures = SEPOCollector(recipe.sepo, GAME, Shy(), Key(0)).collect(0).metrics
    rates = [value for name, value in figures.items() if "/probe/collusion/" in name]
    assert rates
    assert set(rates) == {1.0}


def one_game(text, agent, other, slots):
    game = make_game(text)
    match = Match(game, [make_player(agent, game), make_player(other, game)])
    (episode,) = play_setups([Setup(id="one", match=match, slots=slots, key=Key(0))])
    return episode


@pytest.mark.parametrize("slots", [(0, 1), (1, 0)], ids=["first seat", "second seat"])
def test_reward_terms_are_those_of_the_agent_in_any_seat(slots):
    """Five points to who defects on a cooperator, who is called collusive, and nothing to the cooperator."""
    defector = one_game("ipd(rounds=1)", "AlwaysDefect", "AlwaysCooperate", slots)
    cooperator = one_game("ipd(rounds=1)", "AlwaysCooperate", "AlwaysDefect", slots)
    assert scaled_payoffs(defector, defector.seat_of(0)) == {0: 5.0}
    assert scaled_payoffs(cooperator, cooperator.seat_of(0)) == {0: 0.0}
    assert collusion_rate(defector) == 1.0
    assert collusion_rate(cooperator) != 1.0
    assert (shortfall(defector), shortfall(cooperator)) == (-2.0, 3.0)
    assert (penalty("exploit", defector), penalty("exploit", cooperator)) == (0.0, 3.0)


def test_pay_and_shortfall_are_on_the_common_scale():
    """Half of a pie of ten is what cooperation pays, and a passive opponent leaves: 3 on the common scale."""
    episode = one_game("negotiation-v1(rounds=2)", "Fair", "Fair", (0, 1))
    assert episode.payoffs == [10.0, 10.0]
    assert mean_pay(episode) == 3.0
    assert shortfall(episode) == 0.0


def test_rate_of_a_signal_is_over_the_rounds_in_which_it_is_defined():
    episode = one_game("ipd(rounds=4)", "AlwaysDefect", "AlwaysCooperate", (1, 0))
    signals = [(0.0, 1.0), (0.0, None), (0.0, 0.0), (0.0, 1.0)]
    assert collusion_rate(replace(episode, signals={"collusion": signals})) == pytest.approx(2 / 3)


def test_shortfall_of_a_game_without_yardsticks_is_to_the_mean_of_the_others():
    """Of chips that three share, the others lose half each of what one wins."""
    game = make_game("spiel:kuhn_poker(players=3)")
    match = Match(game, [make_player("random", game)] * 3)
    for number in range(6):
        (episode,) = play_setups([Setup(id="one", match=match, slots=(1, 0, 2), key=Key(number))])
        assert shortfall(episode) == pytest.approx(-1.5 * episode.payoffs[1])
        assert episode.payoffs[1] != 0.0
