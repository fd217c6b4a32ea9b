"""Each advantage estimator raises the better of two actions, though it was taken more seldom and all rewards are high.

The policy is a pair of logits, even at first, and the step is the exact gradient `sum A (1[right] - 1/2)` over the
decisions. The worse action was taken three times as often, so without the baseline the step would go the wrong way.
"""

import numpy as np
import pytest

from stratagem.learn.advantages.base import Decisions
from stratagem.learn.advantages.catalogue import ESTIMATORS, read_advantage

pytestmark = pytest.mark.runs

RIGHT, WRONG = 0, 1
ONCE = np.array([RIGHT, WRONG, WRONG, WRONG])
"""Columns of four episodes of one decision."""
REWARD = np.where(ONCE == RIGHT, 6.0, 5.0)
NO_GROUP = np.zeros(4, dtype=np.int64)
TWICE = np.array([[RIGHT, RIGHT], [RIGHT, WRONG], [WRONG, RIGHT], [WRONG, WRONG]])
"""Columns of four episodes of two decisions, the second of which changes nothing."""


def step(actions, advantage):
    """Measure the change of the right action's logit."""
    return float((advantage * ((actions == RIGHT) - 0.5)).sum())


def once(**columns):
    return Decisions(episode=np.arange(4), **columns)


def paid(**columns):
    return once(terms={"payoff": REWARD}, **columns)


def won(outcome, **columns):
    return once(state=NO_GROUP, action=ONCE, outcome=np.where(ONCE == RIGHT, outcome, 1.0 - outcome), **columns)


def grouped():
    return paid(group=NO_GROUP, round=NO_GROUP)


def weighed():
    """The sheet of each episode was worth the same, and of its orders one is better."""
    return once(group=NO_GROUP, weight=REWARD, terms={"payoff": np.full(4, 5.0)})


def factored():
    """The weight counts as a factor of a good sheet; of a second group, worth less, nothing was seen to be better."""
    return Decisions(
        episode=np.arange(4), group=NO_GROUP, weight=np.array([3.0, 0.5, 1.0, 1.0]),
        terms={"payoff": np.array([6.0, 6.0, 2.0, 2.0])},
    )  # fmt: skip


def answered():
    """Messages, of which another one in their place is worth what is usual."""
    usual = {"payoff": np.full(4, 5.25)}
    return paid(group=NO_GROUP, round=NO_GROUP, message=np.full(4, True), silenced=usual, redrawn=usual)


def expected():
    """A value head knows what is usual."""
    return paid(value=np.full(4, 5.25))


def alone():
    """A round with nothing before it: what the others earn does not count, though they earn more by the worse."""
    return paid(group=NO_GROUP, round=NO_GROUP, others={"payoff": np.where(ONCE == RIGHT, 0.0, 9.0)})


CASES = {
    "group_mean": grouped,
    "rloo": grouped,
    "per_round": grouped,
    "per_round(unit=episode)": grouped,
    "per_round(return_to_go=False)": grouped,
    "gae": expected,
    "whitened": expected,
    "whitened(mean_over=round)": lambda: paid(value=np.zeros(4), round=NO_GROUP),
    "scaled": expected,
    "per_order": weighed,
    "advantage_alignment": alone,
    "message_effect": answered,
    "message_effect(counterfactual=alternatives)": answered,
    "step_win_rate": lambda: won(1.0),
    "beta": lambda: won(1.0),
    "discounted": lambda: won(1.0),
    "spag": lambda: won(1.0),
}
"""By estimator with its options."""


@pytest.mark.parametrize("text", CASES)
def test_credit_raises_the_better_action(text):
    estimate = read_advantage(text).value(CASES[text]())
    assert step(ONCE, estimate.advantage) > 0.1


def test_every_estimator_has_a_direction_case():
    """A new estimator needs a case above; one whose advantages outlive a batch has a test of its own below."""
    assert {text.partition("(")[0] for text in CASES} | {"role_baseline"} == set(ESTIMATORS)


def test_role_baseline_raises_the_better_action_in_either_role():
    """Two roles, of which one is always paid more; what is usual for each is known from earlier batches."""
    estimate = read_advantage("role_baseline(ema_decay=0.5)").value
    usual = Decisions(
        episode=np.arange(2), role=np.arange(2), roles=("rich", "poor"), terms={"payoff": np.array([15.25, 5.25])}
    )
    state = {}
    for _ in range(60):
        state = estimate(usual, state).state
    for role, more in ((0, 10.0), (1, 0.0)):
        batch = once(role=np.full(4, role), roles=("rich", "poor"), terms={"payoff": REWARD + more})
        advantage = read_advantage("role_baseline(ema_decay=0.999)").value(batch, state).advantage
        assert step(ONCE, advantage) > 0.1


@pytest.mark.parametrize("combine", ["multiply", "magnitude"])
def test_a_product_raises_the_order_that_weighs_more_in_a_good_sheet(combine):
    estimate = read_advantage(f"per_order(combine={combine})").value(factored())
    assert step(np.array([RIGHT, WRONG]), estimate.advantage[:2]) > 0.1


def two_rounds(reward):
    """Four episodes of two rounds; `reward` is from the two actions of each to what its rounds paid."""
    return Decisions(
        episode=np.repeat(np.arange(4), 2),
        group=np.zeros(8, dtype=np.int64),
        round=np.tile([0, 1], 4),
        value=np.zeros(8),
        outcome=np.repeat([1.0, 1.0, 0.0, 0.0], 2),
        state=np.tile([0, 1], 4),
        action=TWICE.ravel(),
        others={"payoff": np.zeros(8)},
        terms={"payoff": np.array([reward(*actions) for actions in TWICE.tolist()]).ravel()},
    )


def late(first, second):
    """The first action is rewarded in the second round."""
    return 5.0, 6.0 if first == RIGHT else 5.0


def early(first, second):
    """The first action is rewarded at once, and the second the other way."""
    return 6.0 if first == RIGHT else 5.0, 5.0 if first == RIGHT else 9.0


LOOKS_AHEAD = (
    "group_mean",
    "rloo",
    "per_round",
    "per_round(unit=episode)",
    "gae",
    "gae(gae_lambda=1)",
    "whitened",
    "whitened(mean_over=round)",
    "scaled",
    "step_win_rate",
    "beta",
    "discounted",
    "spag",
    "advantage_alignment",
)


@pytest.mark.parametrize("text", LOOKS_AHEAD)
def test_credit_reaches_the_action_that_was_paid_for_later(text):
    advantage = read_advantage(text).value(two_rounds(late)).advantage.reshape(4, 2)
    assert step(TWICE[:, 0], advantage[:, 0]) > 0.1
    assert step(TWICE[:, 1], advantage[:, 1]) == pytest.approx(0.0, abs=1e-9)


def test_a_round_of_its_own_is_not_credited_with_what_comes_later():
    """Under `horizon=round` the better action is the one that is rewarded at once."""
    own = read_advantage("per_round(return_to_go=False)").value(two_rounds(early)).advantage.reshape(4, 2)
    returns_to_go = read_advantage("per_round").value(two_rounds(early)).advantage.reshape(4, 2)
    assert step(TWICE[:, 0], own[:, 0]) > 0.1
    assert step(TWICE[:, 0], returns_to_go[:, 0]) < -0.1


def test_gae_prefers_the_action_that_leads_to_the_greater_value():
    """With `lam` 0 nothing but the value head's figure after the step tells the actions apart."""
    value = np.column_stack([np.full(4, 5.5), np.where(TWICE[:, 0] == RIGHT, 6.0, 5.0)]).ravel()
    decisions = two_rounds(lambda first, second: (0.0, 6.0 if first == RIGHT else 5.0))
    decisions = Decisions(episode=decisions.episode, terms=decisions.terms, value=value)
    advantage = read_advantage("gae(gae_lambda=0)").value(decisions).advantage.reshape(4, 2)
    assert step(TWICE[:, 0], advantage[:, 0]) == pytest.approx(1.0)
    assert np.allclose(advantage[:, 1], 0.0)


@pytest.mark.parametrize("text", ["group_mean", "rloo", "per_round"])
def test_a_penalty_with_a_negative_weight_lowers_the_action_that_costs(text):
    """The right action has a lower payoff and no penalty; the weight of the penalty decides."""
    terms = {"payoff": -REWARD, "exploit": np.where(ONCE == RIGHT, 0.0, 1.0)}
    decisions = once(group=NO_GROUP, round=NO_GROUP, terms=terms)
    estimator = ESTIMATORS[text]
    for weight, sign in ((-3.0, 1.0), (-0.3, -1.0), (3.0, -1.0)):
        estimate = estimator(weights={"payoff": 1.0, "exploit": weight})(decisions)
        assert sign * step(ONCE, estimate.advantage) > 0.1


def reciprocity(**options):
    """The step of the second action after a good first round and after a bad one; it pays the others alone."""
    good = TWICE[:, 0] == RIGHT
    decisions = Decisions(
        episode=np.repeat(np.arange(4), 2), group=np.zeros(8, dtype=np.int64), round=np.tile([0, 1], 4),
        terms={"payoff": np.column_stack([np.where(good, 6.0, 5.0), np.full(4, 3.0)]).ravel()},
        others={"payoff": np.column_stack([np.full(4, 2.0), np.where(TWICE[:, 1] == RIGHT, 9.0, 8.0)]).ravel()},
    )  # fmt: skip
    advantage = ESTIMATORS["advantage_alignment"](**options)(decisions).advantage.reshape(4, 2)
    return [step(TWICE[rows, 1], advantage[rows, 1]) for rows in (good, ~good)]


def test_alignment_raises_what_is_good_for_the_others_after_a_good_round_and_lowers_it_after_a_bad_one():
    after_good, after_bad = reciprocity()
    assert after_good > 0.1
    assert after_bad < -0.1
    assert after_good == pytest.approx(-after_bad)
    assert reciprocity(alignment_weight=0.0) == [0.0, 0.0]


def test_alignment_does_not_move_the_action_of_the_first_round_by_what_the_others_earn():
    first = two_rounds(late)
    aligned = read_advantage("advantage_alignment").value
    moved = Decisions(
        episode=first.episode, group=first.group, round=first.round, terms=first.terms,
        others={"payoff": np.where(TWICE == RIGHT, 7.0, 0.0).ravel()},
    )  # fmt: skip
    assert np.array_equal(aligned(moved).advantage.reshape(4, 2)[:, 0], aligned(first).advantage.reshape(4, 2)[:, 0])
