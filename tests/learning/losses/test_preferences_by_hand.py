"""KTO (Ethayarajh et al. 2024, eq. 7 and 8) and DPO (Rafailov et al. 2023, eq. 7), and what KTO sets aside."""

import math

import pytest
import torch

from stratagem.learn.example import Example
from stratagem.learn.losses.base import Columns, Outputs
from stratagem.learn.losses.dpo import DPO
from stratagem.learn.losses.kto import KTO, mismatch_replies

SAID = ((-0.5, -1.0), (-0.2,), (-2.0, -0.1, -0.4), (-0.3, -0.6))
REFERENCE = ((-0.7, -0.9), (-0.5,), (-1.0, -0.3, -0.5), (-0.9, -0.4))
GAINS = [sum(said) - sum(other) for said, other in zip(SAID, REFERENCE, strict=True)]
"""0.1, 0.3, -0.7 and 0.4: by how much likelier each reply is than under the reference, in nats."""


def outputs():
    said, other = (torch.tensor([v for row in rows for v in row], dtype=torch.float64) for rows in (SAID, REFERENCE))
    return Outputs(policy_logprobs=said.requires_grad_(), reference_logprobs=other)


def columns(pairs=None, **rows):
    example = torch.tensor([number for number, row in enumerate(SAID) for _ in row])
    named = {name: torch.tensor(values, dtype=torch.float64) for name, values in rows.items()}
    return Columns(example=example, num_examples=4, rows=named, pairs=pairs)


def logistic(x):
    return 1.0 / (1.0 + math.exp(-x))


@pytest.mark.parametrize("aside", [2, 3])
def test_kto_is_its_formula(aside):
    """Replies 0 and 1 are desirable and undesirable; that which is set aside is rarer (2) or likelier (3)."""
    loss = KTO(kto_beta=0.5, desirable_weight=0.8, undesirable_weight=0.6)
    flags = [float(number == aside) for number in range(4)]
    left = next(number for number in (2, 3) if number != aside)
    known, said = columns(desirable=[1.0, 0.0, 1.0, 1.0], kl=flags), outputs()
    divergence = max(0.0, GAINS[aside])
    wanted = 0.8 * (1.0 - logistic(0.5 * (GAINS[0] - divergence)))
    wanted += 0.6 * (1.0 - logistic(0.5 * (divergence - GAINS[1])))
    wanted += 0.8 * (1.0 - logistic(0.5 * (GAINS[left] - divergence)))
    found = loss(said, known, loss.prepare(known, said)).loss
    assert found.item() == pytest.approx(wanted / 3.0)
    slopes = torch.autograd.grad(found, said.policy_logprobs)[0]
    assert [bool(slope) for slope in slopes[known.example == aside]] == [False] * len(SAID[aside])
    assert all(slopes[known.example != aside] != 0.0)


def test_weighted_kto_has_the_weighted_mean_of_the_replies_that_are_set_aside():
    """A mismatched reply with a weight of 3 counts as three copies of it."""
    weight = [2.0, 0.5, 3.0, 1.0]
    known, said = columns(desirable=[1.0, 0.0, 1.0, 0.0], kl=[0.0, 0.0, 1.0, 1.0], weight=weight), outputs()
    gains = said.policy_logprobs.new_tensor([0.1, 0.3, 0.3, 0.4])
    likelier = Outputs(
        policy_logprobs=said.policy_logprobs, reference_logprobs=said.policy_logprobs.detach() - _spread(gains)
    )
    totals = KTO(weighted=True).prepare(known, likelier)
    assert totals["kl"] == pytest.approx((3.0 * 0.3 + 1.0 * 0.4) / 4.0)
    found = KTO(weighted=True)(likelier, known, totals)
    assert found.metrics["reward_desirable"] == pytest.approx((0.1 * 0.1, 1.0))
    assert found.metrics["reward_undesirable"] == pytest.approx((0.1 * 0.3, 1.0)), "the others are in no metric"


def _spread(gains):
    """A gain of each reply, all of it at its first token."""
    return torch.cat(
        [torch.tensor([float(gain), *[0.0] * (len(row) - 1)]) for gain, row in zip(gains, SAID, strict=True)]
    )


def test_mismatched_reply_keeps_the_row_of_its_prompt_and_no_allowed_sets():
    """Allowed sets belong to the reply's own prompt: under this one, its tokens may be none of the allowed."""
    replies = [
        Example(tokens=(1, n, 50 + n), loss_positions=(2,), allowed=((50 + n, 60),), row={"weight": float(n)})
        for n in range(3)
    ]
    found = mismatch_replies(replies)
    assert [one.row for one in found] == [{"weight": float(n), "kl": 1.0} for n in range(3)]
    assert [one.allowed for one in found] == [(), (), ()]


def test_kto_pairs_each_prompt_with_the_reply_before():
    replies = [Example(tokens=(1, number, 50 + number), loss_positions=(2,)) for number in range(3)]
    assert [one.tokens for one in mismatch_replies(replies)] == [(1, 0, 52), (1, 1, 50), (1, 2, 51)]


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_dpo_is_its_formula(smoothing):
    loss = DPO(dpo_beta=0.5, label_smoothing=smoothing)
    known = columns(pairs=torch.tensor([7, 9, 9, 7]), chosen=[1.0, 1.0, 0.0, 0.0])
    margins = [0.5 * (GAINS[0] - GAINS[3]), 0.5 * (GAINS[1] - GAINS[2])]
    each = [-(1.0 - smoothing) * math.log(logistic(h)) - smoothing * math.log(logistic(-h)) for h in margins]
    said = outputs()
    assert loss(said, known, loss.prepare(known)).loss.item() == pytest.approx(sum(each) / 2.0)


def test_weighted_dpo_weighs_a_pair_by_its_chosen_reply():
    known = columns(pairs=torch.tensor([7, 9, 9, 7]), chosen=[1.0, 1.0, 0.0, 0.0], weight=[3.0, 0.5, 9.0, 9.0])
    margins = [0.5 * (GAINS[0] - GAINS[3]), 0.5 * (GAINS[1] - GAINS[2])]
    each = [-weight * math.log(logistic(h)) for weight, h in zip((3.0, 0.5), margins, strict=True)]
    loss, said = DPO(dpo_beta=0.5, weighted=True), outputs()
    assert loss(said, known, loss.prepare(known)).loss.item() == pytest.approx(sum(each) / 2.0)


def test_dpo_reports_the_share_of_pairs_whose_chosen_reply_gained_more():
    said = outputs()
    known = columns(pairs=torch.tensor([7, 7, 9, 9]), chosen=[1.0, 0.0, 1.0, 0.0])
    metrics = DPO(dpo_beta=0.5)(said, known, {"pairs": 2.0}).metrics
    assert metrics["reward_accuracy"] == (0.0, 2.0), "in both pairs the rejected reply gained more"
    assert metrics["reward_rejected"] == pytest.approx((0.5 * (GAINS[1] + GAINS[3]), 2.0))
