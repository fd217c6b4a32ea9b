"""Scores divided by the spread of all scores so far, against that of all of them kept."""

import numpy as np
import pytest

from stratagem.learn.advantages.scaled import ScoreScaling

BATCHES = [
    np.array([0.0, 1.0, 4.0]),
    np.array([3.0]),
    np.array([9.0, 8.0]),
    np.array([]),
    np.array([-1e4, 1e4, 3.0, 0.0]),
]


def test_the_spread_is_that_of_all_scores_this_batch_included():
    scaling, seen = ScoreScaling(), []
    for batch in BATCHES:
        seen += batch.tolist()
        found = scaling.scale_scores(batch)
        assert found == pytest.approx(batch / (np.std(seen, ddof=1) + np.finfo(np.float32).eps))
    assert scaling.mean == pytest.approx(np.mean(seen))


def test_scores_that_have_all_been_alike_stay_as_they_are():
    scaling = ScoreScaling()
    assert scaling.scale_scores(np.array([3.0])).tolist() == [3.0]
    assert scaling.scale_scores(np.array([3.0, 3.0])).tolist() == [3.0, 3.0]
    assert scaling.scale_scores(np.array([1.0]))[0] == pytest.approx(1.0)


def test_a_restored_one_goes_on():
    whole, resumed = ScoreScaling(), ScoreScaling()
    whole.scale_scores(BATCHES[0])
    resumed.restore(whole.state())
    assert whole.scale_scores(BATCHES[3]).tolist() == resumed.scale_scores(BATCHES[3]).tolist()
    assert whole.state() == resumed.state()
