"""Lower bound of an audit: the exploiter must not know the dice by which it is judged."""

from dataclasses import replace
from statistics import fmean, stdev

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.audit.probes import bound
from stratagem.measure.audit.probes.base import Task
from stratagem.measure.resumable import ResumableRecord
from stratagem.players.base import Traits
from stratagem.players.uniform import Random
from stratagem.playing.dispatch import Dispatcher

GAME = "imp(rounds=8)"


class ReadingRandom(Random):
    """Random play by an agent that reads words, so that its moves are recorded and not asked for."""

    traits = Traits(stochastic=True, reads_words=True)


def task(agent, seed=0, decisions=800, game=GAME):
    record = ResumableRecord()
    return Task(game, make_game(game), agent, Key(seed), decisions, record, Dispatcher)


def test_an_exploiter_learns_from_other_deals_than_those_that_judge_it(monkeypatch):
    learned, frequencies = [], bound.Frequencies
    monkeypatch.setattr(bound, "Frequencies", lambda episodes: learned.extend(episodes) or frequencies(episodes))
    monkeypatch.setattr(bound, "SIMULATIONS", 4)
    played = task(ReadingRandom(), decisions=240)
    bound.BoundProbe().measure(played)
    judged = [one for one in played.record.finished.values() if one not in learned]
    assert len(learned) == len(judged) > 0
    assert not {one.key for one in learned} & {one.key for one in judged}


def test_an_agent_that_is_asked_plays_itself_on_the_same_deals(monkeypatch):
    monkeypatch.setattr(bound, "SIMULATIONS", 4)
    played = task(replace_traits(reads_words=False), decisions=240)
    bound.BoundProbe().measure(played)
    keys = [one.key for one in played.record.finished.values()]
    assert all(keys.count(key) == 4 for key in keys)


@pytest.mark.parametrize(
    ("game", "floor"),
    [
        ("imp(rounds=4)", -2.0),
        ("ipd(rounds=4)", -6.0),
        ("ipd(rounds=4, continuation=0.5)", -24.0),
    ],
    ids=["zero-sum", "general-sum", "of varying length"],
)
def test_floor_is_the_smallest_gain_that_the_rules_allow(monkeypatch, game, floor):
    """In a dilemma the exploiter's payoff is -1 a round for illegal moves, and the agent's own 5; a zero sum pays 0."""
    limits, floors = bound.lower_mean, []
    monkeypatch.setattr(bound, "lower_mean", lambda gains, own, key: floors.append(own) or limits(gains, own, key))
    monkeypatch.setattr(bound, "SIMULATIONS", 2)
    bound.BoundProbe().measure(task(ReadingRandom(), decisions=120, game=game))
    assert floors == [floor]


def replace_traits(**changes):
    agent = ReadingRandom()
    agent.traits = replace(agent.traits, **changes)
    return agent


@pytest.mark.runs
def test_nothing_is_gained_from_an_equilibrium(monkeypatch):
    """Nobody gains from even play in matching pennies; who knew its dice gained .062 a round, six errors above 0."""
    gains, limit = [], bound.lower_mean
    monkeypatch.setattr(bound, "lower_mean", lambda own, *rest: gains.extend(own) or limit(own, *rest))
    monkeypatch.setattr(bound, "SIMULATIONS", 30)
    for seed in range(40):
        bound.BoundProbe().measure(task(ReadingRandom(), seed))
    assert fmean(gains) < 2.5 * stdev(gains) / len(gains) ** 0.5
