"""Promises and requests in expectation: keeping, meeting, and their lift over silence."""

from dataclasses import replace

import pytest

from stratagem.games import Key, make_game
from stratagem.measure.matchups import Evaluator
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.talk.interventions import instead
from stratagem.players.catalogue import make_player

IPD = make_game("talk(ipd(rounds=3))")
C, D = "COOPERATE", "DEFECT"


def sample(agent, opponent, game=IPD, episodes=12):
    players = make_player(agent, game), make_player(opponent, game)
    evaluator = Evaluator(episodes=episodes, key=Key(3), budget=0, exact_budget=0)
    return Sample(game, tuple(evaluator.meet(game, [(*players, ("opponents",))])))


def said_by(taken, agent):
    """Yield the lines of the agent, or of the other seat, one an exchange."""
    for episode in taken.matchups[0].episodes:
        seat = episode.seat_of(0) if agent else 1 - episode.seat_of(0)
        yield from (row.action for row in episode.decisions if row.seat == seat and " " in row.action)


def by_chance(taken, agent):
    """Return the mean over histories, by the number of promises there, of the probability of one at another's place."""
    promised = {}
    for episode in taken.matchups[0].episodes:
        seat = episode.seat_of(0)
        for row in episode.decisions:
            if row.seat == seat and row.action.startswith("I will"):
                before = tuple((old.seat, old.action) for old in episode.decisions if old.turn < row.turn)
                promised.setdefault((seat, before), []).append(row.action.split()[-1])
    keep = {C: 0.3, D: 0.7}
    honest = agent.startswith("honest")
    pairs = [
        ((what == where) if honest else keep[what], 1 / len(group))
        for group in promised.values()
        for what in group
        for where in group
    ]
    return sum(kept * weight for kept, weight in pairs) / sum(weight for _, weight in pairs)


def measured(name, taken):
    return METRICS[name].measure(taken), METRICS[name].null(taken)


@pytest.mark.parametrize(
    ("agent", "keeps"),
    [
        ("honest(Mixed(p=0.3))", {C: (1.0, 0.7), D: (1.0, 0.3)}),
        ("liar(Mixed(p=0.3))", {C: (0.3, 0.0), D: (0.7, 0.0)}),
        ("babbler(Mixed(p=0.3))", {C: (0.3, 0.0), D: (0.7, 0.0)}),
    ],
)
def test_a_mixed_strategy_keeps_in_part_and_its_lift_is_over_silence(agent, keeps):
    taken = sample(agent, "AlwaysCooperate")
    said = [line.split()[-1] for line in said_by(taken, agent=True) if line.startswith("I will")]
    assert len(set(said)) == 2
    for place, name in enumerate(("promise keeping", "promise lift")):
        found, null = measured(name, taken)
        assert found.mean == pytest.approx(sum(keeps[action][place] for action in said) / len(said))
        assert found.low <= found.mean <= found.high
        assert null == 0.0 if place else null == pytest.approx(by_chance(taken, agent))


def test_the_obliging_player_meets_requests_at_its_rate():
    taken = sample("obliging(Mixed(p=0.2), p=0.5)", "babbler(AlwaysCooperate)")
    asked = [line.split()[-1] for line in said_by(taken, agent=False) if line.startswith("Please")]
    expected = {C: (0.6, 0.4), D: (0.9, 0.1)}
    for place, name in enumerate(("requests met", "request lift")):
        found, null = measured(name, taken)
        assert found.mean == pytest.approx(sum(expected[action][place] for action in asked) / len(asked))
        assert (null == 0.0) is bool(place)


def test_who_hears_nothing_meets_requests_by_chance():
    taken = sample("Mixed(p=0.2)", "babbler(AlwaysCooperate)")
    found, null = measured("requests met", taken)
    assert found.mean == pytest.approx(null, abs=0.2)
    assert measured("request lift", taken)[0].mean == 0.0


@pytest.mark.parametrize("name", ["promise keeping", "promise lift", "requests met", "request lift"])
def test_without_promises_or_stated_probabilities_there_is_no_figure(name):
    silent = sample("AlwaysCooperate", "AlwaysCooperate", episodes=2)
    assert measured(name, silent) == (None, None)
    recorded = sample("honest(AlwaysCooperate)", "babbler(AlwaysCooperate)", episodes=2)
    assert measured(name, recorded)[0] is not None or name.startswith("request")
    unknown = Sample(IPD, tuple(replace(matchup, seated=()) for matchup in recorded.matchups))
    assert measured(name, unknown) == (None, None)


def test_a_private_message_is_replaced_by_one_that_its_reader_does_not_see():
    """Three seats: silence in the place of a private message leaves nothing in the reader's view."""
    game = make_game("talk(auction(seats=3), channel=private, words=[hi])")
    state = game.start(Key(0))
    state.play({0: "TO player 1: hi", 1: "TO player 2: hi", 2: "SILENT"})
    silent = instead(state, 0, "SILENT")
    assert [len(silent.view(seat).facts.messages) for seat in range(3)] == [1, 1, 2]
    assert [len(state.view(seat).facts.messages) for seat in range(3)] == [1, 2, 2]
