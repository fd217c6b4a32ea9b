"""Estimates and losses of somebody's own in another form than the promised one: each is refused in one sentence."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.named import NamedObject
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions
from stratagem.learn.losses.base import Loss, LossOutput, check_output
from stratagem.training.provided import GRPO

FOUR = Decisions(episode=[0, 1, 2, 3], terms={"payoff": [1.0, 0.0, 2.0, 1.0]})
GOOD = np.arange(4.0)


@dataclass(frozen=True, kw_only=True)
class Own(AdvantageEstimator):
    """An estimator that returns what it is told."""

    given: object = None

    def estimate(self, decisions, state):
        return self.given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "Own returned NoneType in place of an AdvantageEstimate."),
        (GOOD, "Own returned ndarray in place of an AdvantageEstimate."),
        (AdvantageEstimate(advantage=GOOD[:3]), "returned 3 numbers as `advantage`: 4 decisions need"),
        (AdvantageEstimate(advantage=np.append(GOOD, 7.0)), "returned 5 numbers as `advantage`: 4 decisions"),
        (AdvantageEstimate(advantage=GOOD[:, None]), "returned 4 x 1 numbers as `advantage`"),
        (AdvantageEstimate(advantage=np.float64(1.0)), "returned float64 as `advantage`"),
        (AdvantageEstimate(advantage=list(GOOD)), "returned list as `advantage`"),
        (AdvantageEstimate(advantage=torch.zeros(4)), "returned Tensor as `advantage`"),
        (AdvantageEstimate(advantage=np.append(GOOD[:3], np.nan)), "numbers as `advantage` that are not finite"),
        (AdvantageEstimate(advantage=np.array(["x"] * 4)), "returned an array of <U1 as `advantage`"),
        (AdvantageEstimate(advantage=GOOD, returns=GOOD[1:]), "returned 3 numbers as `returns`"),
        (AdvantageEstimate(advantage=GOOD, centred_terms={"a": GOOD[1:]}), "3 numbers as `centred_terms['a']`"),
        (AdvantageEstimate(advantage=GOOD, counts={"groups": "many"}), "returned 'many' as the count 'groups'"),
        (AdvantageEstimate(advantage=GOOD, counts=[4]), "returned list as `counts`, which must be a table by name."),
        (AdvantageEstimate(advantage=GOOD, state=None), "returned NoneType as `state`, which must be a table by name."),
        (AdvantageEstimate(advantage=GOOD, state={"x": np.zeros(3)}), "returned ndarray as the state 'x'"),
        (AdvantageEstimate(advantage=GOOD, state={"x": "text"}), "returned str as the state 'x'"),
    ],
)
def test_an_estimate_of_another_form_is_refused(given, said):
    with pytest.raises(BadParameter) as caught:
        Own(given=given)(FOUR)
    assert said in str(caught.value)


def test_numbers_of_numpy_in_a_state_become_plain():
    state = {"mean": np.float32(1.5), "number": np.int64(3), "plain": 2}
    found = Own(given=AdvantageEstimate(advantage=np.ones(4, dtype=np.int64), state=state))(FOUR).state
    assert found == {"mean": 1.5, "number": 3, "plain": 2}
    assert [type(value) for value in found.values()] == [float, int, int]


def test_with_dropped_rows_an_estimate_is_of_the_kept_ones():
    some = Decisions(episode=[0, 1, 2, 3], terms={"payoff": [1.0, 0.0, 2.0, 1.0]}, keep=[True, False, True, True])
    assert Own(given=AdvantageEstimate(advantage=np.array([1.0, 2.0, 3.0])))(some).advantage.tolist() == [1, 0, 2, 3]
    with pytest.raises(BadParameter, match="4 numbers as `advantage`: 3 decisions"):
        Own(given=AdvantageEstimate(advantage=GOOD))(some)


X = torch.tensor(1.0, requires_grad=True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (X * 2, "object returned Tensor in place of a LossOutput."),
        (None, "object returned NoneType in place of a LossOutput."),
        (LossOutput(1.0), "a loss that is not one number with a gradient"),
        (LossOutput((X * 2).detach()), "a loss that is not one number with a gradient"),
        (LossOutput(X * torch.ones(3)), "a loss that is not one number with a gradient"),
        (LossOutput(X * 2, None), "object returned NoneType as `metrics`, which must be a table by name."),
        (LossOutput(X * 2, {"w": 3.0}), "3.0 as the metric 'w', which must be a sum and a count"),
        (LossOutput(X * 2, {"w": (X, 1.0)}), "as the metric 'w', which must be a sum and a count"),
        (LossOutput(X * 2, {}, {"r": (1.0,)}), "as the metric 'r', which must be a minimum and a maximum"),
    ],
)
def test_a_loss_of_another_form_is_refused(given, said):
    with pytest.raises(BadParameter) as caught:
        check_output(object(), given)
    assert said in str(caught.value)


def test_a_loss_of_the_right_form_is_returned():
    output = LossOutput(X * 2, {"w": (3.0, 1.0), "n": (3, 1)}, {"r": (0.0, 1.0)})
    assert check_output(object(), output) is output


def test_a_loss_that_asks_for_an_unknown_output_is_refused():
    class Asking(Loss):
        extras = frozenset({"entropy"})
        prepare = __call__ = lambda *_: None

    with pytest.raises(UnknownName, match="did you mean entropies"):
        GRPO.check_loss(NamedObject("asking", {}, Asking()))
