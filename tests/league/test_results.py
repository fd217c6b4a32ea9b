"""Results of a pair: counts that decay, for both sides."""

import json

import numpy as np
import pytest

from stratagem.base.errors import BadRecord
from stratagem.training.opponents.results import Results


def test_a_pair_that_has_not_met_is_even():
    assert Results(["a", "b"]).rate("a", "b") == 0.5


def test_both_sides_see_one_result():
    results = Results(["a", "b", "c"])
    results.record("a", "b", 1.0)
    results.record("a", "c", 0.5)
    assert results.rates("a", ["b", "c"]).tolist() == [1.0, 0.5]
    assert results.rate("b", "a") == 0.0
    assert results.rate("c", "a") == 0.5


def test_earlier_results_of_the_pair_fade_and_others_do_not():
    results = Results(["a", "b", "c"])
    results.record("a", "c", 1.0)
    for points in (1.0, 0.0, 0.0):
        results.record("a", "b", points)
    games = 1 + 0.99 + 0.99**2
    assert results.games("a", "b") == pytest.approx(games)
    assert results.rate("a", "b") == pytest.approx(0.99**2 / games)
    assert results.games("a", "c") == 1.0


def test_a_learner_that_improves_is_soon_known_to():
    results = Results(["a", "b"])
    for points in [0.0] * 300 + [1.0] * 300:
        results.record("a", "b", points)
    assert results.rate("a", "b") > 0.9


def test_a_checkpoint_takes_over_what_its_learner_showed_and_they_have_not_met():
    results = Results(["a", "b"])
    results.record("a", "b", 1.0)
    results.copy("a", "a@1")
    results.record("b", "a", 1.0)
    assert results.rate("a@1", "b") == 1.0
    assert results.rate("b", "a@1") == 0.0
    assert results.games("a", "a@1") == 0.0
    assert results.rate("a", "b") < 0.6


def test_results_against_itself_are_not_taken_over_as_the_copys_own():
    results = Results(["a", "b"])
    results.record("a", "a", 0.5)
    results.copy("a", "a@1")
    assert results.games("a@1", "a@1") == 0.0


def test_reset_learner_has_unknown_rates():
    results = Results(["a", "b"])
    results.record("a", "b", 1.0)
    results.forget("a")
    assert results.rate("a", "b") == results.rate("b", "a") == 0.5


def test_any_number_of_members_and_back_from_a_file():
    rng = np.random.default_rng(0)
    names = [f"m{n}" for n in range(50)]
    results = Results(names)
    for _ in range(500):
        one, other = rng.choice(names, 2, replace=False)
        results.record(one, other, float(rng.choice([0.0, 0.5, 1.0])))
    again = Results.of(json.loads(json.dumps(results.state())))
    for name in names:
        assert again.rates(name, names).tolist() == results.rates(name, names).tolist()
    again.record("m0", "m1", 1.0)
    results.record("m0", "m1", 1.0)
    assert again.state() == results.state()


@pytest.mark.parametrize("state", [{}, {"decay": 1.0, "names": ["a"], "met": [[0, 7, 1.0, 1.0]]}, {"names": 3}])
def test_what_are_no_results_is_refused(state):
    with pytest.raises(BadRecord, match="no results of a league"):
        Results.of(state)


def test_restored_results_decay_as_before():
    results = Results(["a", "b"], decay=0.5)
    results.record("a", "b", 1.0)
    restored = Results.of(results.state())
    for one in (results, restored):
        one.record("a", "b", 0.0)
    assert restored.rate("a", "b") == results.rate("a", "b") == 1.0 / 3.0
