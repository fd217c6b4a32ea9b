"""Matchmaking for known win rates: the effective number of opponents, worked out by hand."""

import numpy as np
import pytest

from stratagem.algorithms.league.roles import LeagueExploiter, Main, MainExploiter, before_falling, is_ready, is_reset
from stratagem.base.errors import BadParameter, CannotCompute, StratagemError
from stratagem.games.key import Key
from stratagem.training.opponents.matchmaking import (
    PFSP,
    WEIGHTINGS,
    FixedOpponent,
    Lot,
    RatingNear,
    SelfPlay,
    Situation,
    effective_number,
    shares,
)
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.results import Results

RATES = {"easy": 0.9, "even": 0.5, "hard": 0.1}
AGENT = Member(name="agent", role="main", learns=True)


def situation(rates=RATES, roles=None, ratings=None, learners=(AGENT,)):
    roles = roles or {}
    results, population = Results(), Population()
    for learner in learners:
        population.add(learner)
        results.add(learner.name)
    for name, rate in rates.items():
        parent = "agent" if roles.get(name, "bot") == "main" else ""
        population.add(Member(name=name, role=roles.get(name, "bot"), parent=parent))
        results.add(name)
        for number in range(1000):
            results.record("agent", name, float(number % 10 < round(10 * rate)))
    return Situation(population, results, ratings or {})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("squared", [0.01, 0.25, 0.81]),
        ("variance", [0.09, 0.25, 0.09]),
        ("linear", [0.1, 0.5, 0.9]),
        ("capped", [0.1, 0.5, 0.5]),
        ("uniform", [1.0, 1.0, 1.0]),
    ],
)
def test_weights_by_hand_and_how_many_opponents_they_are_worth(name, expected):
    rates, weights = np.array([0.9, 0.5, 0.1]), np.array(expected)
    found = shares(rates, name)
    assert found == pytest.approx(weights / weights.sum())
    assert effective_number(found) == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.parametrize(
    ("name", "worth"), [("squared", 1.594), ("variance", 2.349), ("linear", 2.103), ("capped", 2.373), ("uniform", 3.0)]
)
def test_the_effective_number_of_opponents_is_stated(name, worth):
    """Of three whom one beats nine, five and one times in ten."""
    assert effective_number(shares(np.array([0.9, 0.5, 0.1]), name)) == pytest.approx(worth, abs=2e-3)


def test_alike_are_worth_as_many_as_they_are_and_one_alone_is_one():
    assert effective_number(np.full(7, 1 / 7)) == pytest.approx(7.0)
    assert effective_number(np.array([1.0, 0.0])) == 1.0
    assert all(shares(np.ones(4), name) == pytest.approx(np.full(4, 0.25)) for name in WEIGHTINGS)


def close(odds, **expected):
    assert odds == pytest.approx(expected, abs=0.02)


def test_fictitious_play_meets_whom_it_loses_to_and_keeps_a_share_for_the_beaten():
    close(PFSP().odds(AGENT, situation()), easy=0.01 / 1.07, even=0.25 / 1.07, hard=0.81 / 1.07)
    some = PFSP(weighting="linear", self_play=0.3, reserved=0.2).odds(AGENT, situation())
    close(some, agent=0.3, easy=0.2 + 0.5 * 0.1 / 1.5, even=0.5 * 0.5 / 1.5, hard=0.5 * 0.9 / 1.5)


def test_where_nobody_is_beaten_the_reserved_share_is_played_as_usual():
    found = PFSP(reserved=0.5).odds(AGENT, situation({"hard": 0.1, "even": 0.5}))
    close(found, hard=0.81 / 1.06, even=0.25 / 1.06)


def test_without_anybody_a_learner_meets_itself():
    alone = situation({})
    for rule in (PFSP(), PFSP(reserved=0.5, weighting="capped"), SelfPlay(), Main(), LeagueExploiter()):
        assert rule.odds(AGENT, alone) == {"agent": 1.0}


def test_a_fixed_opponent_and_one_that_is_not_there():
    assert FixedOpponent(opponent="hard").odds(AGENT, situation()) == {"hard": 1.0}
    with pytest.raises(StratagemError, match="member of the league"):
        FixedOpponent(opponent="nobody").odds(AGENT, situation())


def test_by_rating_alone_few_are_met():
    """Ten bots at ten ratings, a hundred points apart: rating-near is worth under three of them, uniform ten."""
    rates = {f"b{n}": 0.5 for n in range(10)}
    ratings = {"agent": 1500.0, **{f"b{n}": 1100.0 + 100 * n for n in range(10)}}
    near = RatingNear(width=50.0).odds(AGENT, situation(rates, ratings=ratings))
    assert effective_number(np.array(list(near.values()))) < 3.0
    assert max(near, key=near.get) == "b4"
    narrow = RatingNear(width=1.0).odds(AGENT, situation(rates, ratings=dict(ratings, agent=1545.0)))
    assert narrow["b4"] == pytest.approx(1.0), "however far off, the nearest is met"
    even = PFSP(weighting="uniform").odds(AGENT, situation(rates, ratings=ratings))
    assert effective_number(np.array(list(even.values()))) == pytest.approx(10.0)
    with pytest.raises(CannotCompute, match="needs ratings"):
        RatingNear().odds(AGENT, situation())


def test_the_main_learner_fights_the_past_verifies_and_plays_itself():
    rates, roles = {"then": 0.9, "rival": 0.1}, {"then": "main", "rival": "main_exploiter"}
    squared = {"then": 0.01 / 0.82, "rival": 0.81 / 0.82}
    found = Main().odds(AGENT, situation(rates, roles))
    close(found, then=0.5 * squared["then"], rival=0.5 * squared["rival"] + 0.15, agent=0.35)


def test_the_main_learner_verifies_against_main_exploiters_alone():
    """A bot that it loses to as well is met in fictitious play, and is no part of the verification."""
    found = Main(fictitious=0.0, verification=1.0).odds(
        AGENT, situation({"bot": 0.1, "rival": 0.1}, {"rival": "main_exploiter"})
    )
    close(found, rival=1.0)


def test_one_rival_that_wins_brings_all_of_them_and_a_league_exploiter_none():
    """Squared over both, .81 and .01; a league exploiter's checkpoints are met in fictitious play alone."""
    roles = {"rival": "main_exploiter", "weak": "main_exploiter"}
    found = Main().odds(AGENT, situation({"rival": 0.1, "weak": 0.9}, roles))
    close(found, rival=0.65 * 0.81 / 0.82, weak=0.65 * 0.01 / 0.82, agent=0.35)
    close(Main().odds(AGENT, situation({"other": 0.1}, {"other": "league_exploiter"})), other=0.5, agent=0.5)


@pytest.mark.parametrize(("rate", "met"), [(0.1, "then"), (0.5, "other"), (0.9, "other")])
def test_a_main_rival_that_wins_too_often_is_met_as_it_was(rate, met):
    """Of the third that is not fictitious play, half is against each main as it is, or against the rival's past."""
    rival = Member(name="other", role="main", learns=True)
    now = situation({"x": 0.9}, learners=(AGENT, rival))
    now.population.add(Member(name="then", role="main", parent="other"))
    now.results.add("then")
    for number in range(1000):
        now.results.record("agent", "other", float(number % 10 < round(10 * rate)))
        now.results.record("agent", "then", 0.5)
    odds = Main(fictitious=0.0, verification=0.0).odds(AGENT, now)
    close(odds, agent=0.5, **{met: 0.5})


def test_past_of_a_rival_that_wins_too_often_is_met_by_the_variance_weighting():
    """Weights x (1 - x) of AlphaStar's pseudo-code: .25 and .09, mostly those of equal strength."""
    now = situation({"x": 0.9}, learners=(AGENT, Member(name="other", role="main", learns=True)))
    for name in ("even", "beaten"):
        now.population.add(Member(name=name, role="main", parent="other"))
        now.results.add(name)
    for number in range(1000):
        for name, tenths in (("other", 1), ("even", 5), ("beaten", 9)):
            now.results.record("agent", name, float(number % 10 < tenths))
    odds = Main(fictitious=0.0, verification=0.0).odds(AGENT, now)
    close(odds, agent=0.5, even=0.5 * 0.25 / 0.34, beaten=0.5 * 0.09 / 0.34)


def test_an_exploiter_of_two_main_learners_meets_each_half_of_the_time():
    exploiter = Member(name="exploiter", role="main_exploiter", learns=True)
    mains = (AGENT, Member(name="other", role="main", learns=True))
    assert MainExploiter().odds(exploiter, situation({}, learners=(*mains, exploiter))) == {"agent": 0.5, "other": 0.5}


def test_without_a_rival_it_meets_the_past_if_it_forgot_to_beat_some_and_else_itself():
    roles = {"first": "main", "second": "main"}
    found = Main().odds(AGENT, situation({"first": 0.5, "second": 0.9}, roles))
    close(found, first=0.65 * 0.25 / 0.26, second=0.65 * 0.01 / 0.26, agent=0.35)
    rising = Main().odds(AGENT, situation({"first": 0.9, "second": 0.5}, roles))
    close(rising, first=0.5 * 0.01 / 0.26, second=0.5 * 0.25 / 0.26, agent=0.5)
    sure = Main().odds(AGENT, situation({"first": 0.8, "second": 0.8}, roles))
    close(sure, first=0.25, second=0.25, agent=0.5)


def test_an_exploiter_meets_the_main_learner_or_its_past_while_it_wins_too_seldom():
    exploiter = Member(name="exploiter", role="main_exploiter", learns=True)
    table = situation({"then": 0.5}, {"then": "main"}, learners=(AGENT, exploiter))
    assert MainExploiter().odds(exploiter, table) == {"agent": 1.0}
    for _ in range(500):
        table.results.record("exploiter", "agent", 0.0)
    assert MainExploiter().odds(exploiter, table) == {"then": 1.0}
    lonely = situation({}, learners=(exploiter,))
    with pytest.raises(CannotCompute, match="needs a main learner"):
        MainExploiter().odds(exploiter, lonely)


def test_a_league_exploiter_meets_all_that_it_does_not_beat_alike():
    learner = Member(name="agent", role="league_exploiter", learns=True)
    close(
        LeagueExploiter().odds(learner, situation(learners=(learner,))), easy=0.1 / 1.1, even=0.5 / 1.1, hard=0.5 / 1.1
    )


def test_a_past_that_only_becomes_harder_was_not_forgotten():
    """AlphaStar's pseudo-code cuts off the stretch at the end over which rates never rise."""
    assert [before_falling(rates) for rates in ([], [0.5], [0.5, 0.5], [0.9, 0.6, 0.5])] == [0, 0, 0, 0]
    assert before_falling([0.5, 0.9, 0.6, 0.6]) == 2
    assert before_falling([0.5, 0.4, 0.6]) == 3


def test_who_beats_all_that_its_role_asks_about_is_ready():
    exploiter = Member(name="exploiter", role="main_exploiter", learns=True)
    table = situation({"easy": 0.9, "even": 0.5}, learners=(AGENT, exploiter))
    assert not is_ready(AGENT, table)
    assert is_ready(AGENT, situation({"easy": 0.9, "other": 0.8}))
    assert not is_ready(AGENT, situation({}))
    assert not is_ready(exploiter, table)
    for _ in range(50):
        table.results.record("exploiter", "agent", 1.0)
    assert is_ready(exploiter, table)


def test_main_exploiters_and_some_league_exploiters_are_reset():
    learners = {
        role: Member(name=role, role=role, learns=True) for role in ("main", "main_exploiter", "league_exploiter")
    }
    times = {role: sum(is_reset(one, Key(n)) for n in range(400)) for role, one in learners.items()}
    assert times["main"] == 0
    assert times["main_exploiter"] == 400
    assert 70 < times["league_exploiter"] < 130


def test_draws_follow_the_odds_and_the_key():
    table, rule = situation(), PFSP(weighting="linear")
    odds = rule.odds(AGENT, table)
    lot = Lot(odds)
    names = [lot.draw(Key(n)) for n in range(600)]
    assert names == [lot.draw(Key(n)) for n in range(600)]
    assert all(abs(names.count(name) / 600 - odds[name]) < 0.07 for name in RATES)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PFSP(weighting="cubed"),
        lambda: PFSP(reserved=0.7, self_play=0.7),
        lambda: PFSP(beaten=2.0),
        lambda: RatingNear(width=0.0),
    ],
)
def test_settings_that_cannot_be_are_refused(make):
    with pytest.raises((BadParameter, StratagemError)):
        make()
