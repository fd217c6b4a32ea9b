"""An estimator runs on the columns that it declares, and on nothing less."""

from dataclasses import fields

import numpy as np
import pytest

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.learn.advantages.base import Decisions
from stratagem.learn.advantages.catalogue import ESTIMATORS, read_advantage

MORE = (
    "message_effect(counterfactual=alternatives)",
    "per_round(unit=episode)",
    "per_order(combine=multiply)",
    "per_order(combine=magnitude)",
)
SIZE = 8
NUMBERS = np.arange(SIZE)
WHOLE = {
    "group": NUMBERS // 4,
    "round": NUMBERS % 2,
    "state": NUMBERS % 3,
    "action": NUMBERS % 2,
    "role": NUMBERS % 2,
    "outcome": (NUMBERS % 3) / 2.0,
    "value": NUMBERS / 4.0,
    "weight": NUMBERS - 3.0,
    "message": NUMBERS % 2 == 0,
    "silenced": {"payoff": np.cos(NUMBERS)},
    "redrawn": {"payoff": NUMBERS / 5.0},
    "others": {"payoff": NUMBERS % 5 - 2.0},
}


def decisions(columns):
    roles = ("first", "second") if "role" in columns else ()
    terms = {"payoff": np.sin(NUMBERS)}
    return Decisions(episode=NUMBERS // 2, terms=terms, roles=roles, **{name: WHOLE[name] for name in columns})


def made(name):
    return ESTIMATORS[name]() if name in ESTIMATORS else read_advantage(name).value


def test_every_column_is_among_those_that_are_tried():
    others = {"episode", "terms", "roles", "keep"}
    assert set(WHOLE) == {each.name for each in fields(Decisions)} - others


@pytest.mark.parametrize("name", [*ESTIMATORS, *MORE])
def test_an_estimator_runs_on_the_columns_that_it_declares(name):
    estimator = made(name)
    found = estimator(decisions(estimator.columns))
    assert np.array_equal(found.advantage, estimator(decisions(WHOLE)).advantage)


@pytest.mark.parametrize("name", [*ESTIMATORS, *MORE])
def test_an_estimator_misses_each_column_that_it_declares(name):
    estimator = made(name)
    for missing in estimator.columns:
        with pytest.raises(BadParameter, match=f"needs the column `{missing}`"):
            estimator(decisions(estimator.columns - {missing}))


def test_the_terms_that_an_estimator_names_are_declared():
    assert read_advantage("scaled(reward_term=glory)").value.terms == {"glory"}
    assert ESTIMATORS["group_mean"](weights={"glory": 2.0}).terms == {"glory"}
    assert ESTIMATORS["whitened"](of=ESTIMATORS["per_round"](weights={"glory": 2.0})).terms == {"glory"}
    assert all(not made(name).terms for name in ESTIMATORS if name != "scaled")
    with pytest.raises(StratagemError, match="no term of the reward called 'glory'"):
        read_advantage("scaled(reward_term=glory)").value(decisions(WHOLE))
