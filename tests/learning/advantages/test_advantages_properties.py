"""Properties of every estimator for any decisions, and its time for a million of them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stratagem.learn.advantages.base import Decisions, encode_values
from stratagem.learn.advantages.catalogue import ESTIMATORS
from stratagem.learn.advantages.gae import GAE
from stratagem.learn.advantages.segments import (
    backwards,
    cells,
    discounted_past,
    remaining_steps,
    returns_to_go,
    subtract_group_mean,
)

FIGURES = st.floats(-50, 50, width=32)


@st.composite
def decisions(draw):
    """Any columns of some episodes of some groups, in any order between episodes; some rows are not kept."""
    size = draw(st.integers(0, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    episode = rng.integers(0, 6, size) * 11 - 20
    played = np.zeros(size, dtype=int)
    for row in range(size):
        played[row] = (episode[:row] == episode[row]).sum()
    payoffs = rng.choice(draw(st.lists(FIGURES, min_size=1, max_size=6)), size)  # of few, to have equal ones, too
    return Decisions(
        episode=episode,
        group=episode % 3,
        round=played // 2,
        state=rng.integers(0, 4, size),
        action=rng.integers(-1, 3, size),
        role=episode % 2,
        roles=("first", "second"),
        keep=rng.random(size) < 0.8,
        outcome=rng.choice([0.0, 0.5, 1.0], size),
        value=rng.normal(size=size),
        weight=rng.normal(size=size),
        message=rng.random(size) < 0.5,
        silenced={"payoff": rng.normal(size=size), "exploit": rng.normal(size=size)},
        redrawn={"payoff": rng.normal(size=size), "exploit": rng.normal(size=size)},
        others={"payoff": rng.normal(size=size), "exploit": rng.normal(size=size)},
        terms={"payoff": payoffs, "exploit": rng.normal(size=size)},
    )


every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
some = settings(max_examples=30, deadline=None)


@every_estimator
@some
@given(decisions())
def test_credit_is_finite_and_nothing_for_what_is_not_kept(name, given):
    estimate = ESTIMATORS[name]()(given)
    assert estimate.advantage.shape == (len(given),)
    assert np.isfinite(estimate.advantage).all()
    assert (estimate.advantage[~given.keep] == 0.0).all()
    assert all(np.isfinite(share).all() for share in estimate.term_advantages.values())
    assert (estimate.counts["rows"], estimate.counts["discarded"]) == (len(given), (~given.keep).sum())


@every_estimator
@some
@given(decisions(), st.integers(0, 2**32))
def test_the_order_between_episodes_and_the_codes_do_not_matter(name, given, seed):
    """An interleaving of the same episodes gives the same credit; a moving baseline alone goes by it."""
    if name == "role_baseline":
        return
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.permutation(200)[given.episode % 200], kind="stable")
    moved = Decisions(
        episode=given.episode[order] * 5 + 3,
        group=given.group[order] * 7 - 2,
        round=given.round[order],
        state=given.state[order] * 3,
        action=given.action[order] + 9,
        role=given.role[order],
        roles=given.roles,
        keep=given.keep[order],
        outcome=given.outcome[order],
        value=given.value[order],
        weight=given.weight[order],
        message=given.message[order],
        **{
            name: {term: column[order] for term, column in getattr(given, name).items()}
            for name in ("terms", "silenced", "redrawn", "others")
        },
    )
    found = ESTIMATORS[name]()(moved).advantage
    assert np.allclose(found, ESTIMATORS[name]()(given).advantage[order], atol=1e-6)


@pytest.mark.parametrize("name", ["group_mean", "per_round", "rloo"])
@some
@given(decisions())
def test_shares_add_up_to_the_advantage(name, given):
    estimate = ESTIMATORS[name]()(given)
    assert np.allclose(sum(estimate.term_advantages.values()), estimate.advantage, atol=1e-9)


@some
@given(decisions())
def test_the_advantages_of_a_group_cancel(given):
    """Over the rounds of a group, each counted once."""
    given = given.only(given.keep)
    rounds, estimate = cells(given.episode, given.round), ESTIMATORS["per_round"]()(given)
    once = estimate.advantage[rounds.first]
    groups = cells(given.group[rounds.first], given.round[rounds.first])
    assert np.allclose(groups.total(once), 0.0, atol=1e-6)


@some
@given(st.lists(st.integers(0, 4), max_size=25), FIGURES, st.integers(0, 100))
def test_centring_takes_a_constant_to_exactly_nothing_and_any_group_to_about_nothing(groups, constant, seed):
    groups = cells(np.array(groups, dtype=np.int64))
    alike = np.full(len(groups.of), constant, dtype=np.float64) / 3
    assert (subtract_group_mean(alike, groups) == 0.0).all()
    values = np.random.default_rng(seed).normal(size=len(alike))
    assert np.allclose(groups.total(subtract_group_mean(values, groups)), 0.0, atol=1e-9)


@some
@given(decisions(), st.floats(0, 1), st.floats(0, 1))
def test_gae_is_the_sum_of_discounted_surprises(given, gamma, lam):
    given = given.only(given.keep)
    found = GAE(discount=gamma, gae_lambda=lam, weights={"payoff": 1.0})(given)
    for row in range(len(given)):
        later = [other for other in range(row, len(given)) if given.episode[other] == given.episode[row]]
        values = [*given.value[later], 0.0]
        surprises = [
            given.terms["payoff"][other] + gamma * values[place + 1] - values[place]
            for place, other in enumerate(later)
        ]
        wanted = sum((gamma * lam) ** place * surprise for place, surprise in enumerate(surprises))
        assert found.advantage[row] == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@some
@given(decisions())
def test_with_rewards_alone_trusted_the_return_is_what_comes(given):
    given = given.only(given.keep)
    estimate = GAE(discount=1.0, gae_lambda=1.0)(given)
    assert np.allclose(estimate.returns, returns_to_go(given.reward(None), cells(given.episode)), atol=1e-4)


@some
@given(decisions())
def test_going_backwards_meets_every_row_once_and_later_ones_first(given):
    episodes = cells(given.episode)
    steps = list(backwards(episodes))
    assert sorted(row for rows in steps for row in rows) == list(range(len(given)))
    assert all(len(set(episodes.of[rows])) == len(rows) for rows in steps)
    left = remaining_steps(episodes)
    for row in range(len(given)):
        assert left[row] == (given.episode[row + 1 :] == given.episode[row]).sum()


@some
@given(decisions(), st.floats(0, 1))
def test_sums_before_and_after_a_row_are_discounted_by_distance(given, discount):
    episodes, values = cells(given.episode), given.terms["payoff"]
    later, earlier = (sums(values, episodes, discount) for sums in (returns_to_go, discounted_past))
    for row in range(len(given)):
        own = np.flatnonzero(given.episode == given.episode[row])
        at = int(np.flatnonzero(own == row)[0])
        weights = discount ** np.abs(np.arange(len(own)) - at)
        assert later[row] == pytest.approx(weights[at:] @ values[own][at:], rel=1e-9, abs=1e-9)
        assert earlier[row] == pytest.approx(weights[:at] @ values[own][:at], rel=1e-9, abs=1e-9)


@some
@given(decisions())
def test_the_posterior_mean_judges_as_the_win_rate_does(given):
    rate, posterior = (ESTIMATORS[name]()(given).advantage for name in ("step_win_rate", "beta"))
    assert (np.sign(np.round(rate, 12)) == np.sign(np.round(posterior, 12))).all()
    assert (np.abs(posterior) <= np.abs(rate) + 1e-12).all()


@given(st.lists(st.text(max_size=3)))
def test_codes_can_be_read_back(texts):
    codes, names = encode_values(texts)
    assert [names[code] for code in codes] == texts
    assert len(set(names)) == len(names)


PROGRAM = """
import random, time
from peak import peak
rng = random.Random(0)
states = [f"tic-tac-toe/{rng.randrange(200_000):012d}/x.o..x.o." for _ in range(1_000_000)]
actions = [f"<{rng.randrange(9)}>" for _ in range(1_000_000)]
import numpy as np
from stratagem.learn.advantages.base import Decisions, encode_values
from stratagem.learn.advantages.catalogue import read_advantage
outcome = np.random.default_rng(0).choice([0.0, 0.5, 1.0], 1_000_000)
start = time.process_time()
decisions = Decisions(
    episode=np.arange(1_000_000) // 5, state=encode_values(states)[0], action=encode_values(actions)[0], outcome=outcome
)
estimate = read_advantage("step_win_rate").value(decisions)
seconds = time.process_time() - start
print(seconds, peak() / 1024, estimate.counts["pairs"])
"""


@pytest.mark.runs
def test_a_million_decisions_take_seconds_and_little_memory():
    tests = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, cwd=tests)
    seconds, megabytes, pairs = map(float, run.stdout.split())
    print(f"{seconds:.2f} s, {megabytes:.0f} MB in all, {pairs:.0f} pairs")  # noqa: T201 - for a reader of the log
    assert pairs > 500_000
    assert seconds < 30
    assert megabytes < 1000


@pytest.mark.parametrize("name", ["per_round", "group_mean"])
@some
@given(decisions())
def test_before_the_division_a_term_knows_nothing_of_the_others(name, given):
    """Through the spread that all are divided by, a term's share depends on the others; what is centred does not."""
    louder = replace(given, terms={**given.terms, "payoff": 3.0 * given.terms["payoff"] + given.terms["exploit"]})
    first, second = (ESTIMATORS[name]()(one) for one in (given, louder))
    assert np.array_equal(first.centred_terms["exploit"], second.centred_terms["exploit"])
    assert (first.centred_terms["exploit"][~given.keep] == 0.0).all()
    for term, share in first.term_advantages.items():
        assert (np.sign(share) == np.sign(first.centred_terms[term])).all()
