"""The clipped surrogate by hand: what each token loses, and what is shown of it."""

import math
from dataclasses import replace

import pytest
import torch

from stratagem.learn.losses.base import Columns, Outputs
from stratagem.learn.losses.catalogue import read_loss

RATIOS = (1.5, 1.5, 0.5, 0.5, 1.1)
ADVANTAGES = (2.0, -2.0, 2.0, -2.0, 1.0)
SURROGATES = (-2.4, 3.0, -1.0, 1.6, -1.1)
GRADIENTS = (0.0, 3.0, -1.0, 0.0, -1.1)
"""By hand, with clips of .2: a gain is capped at 1.2 A, a loss is not; below .8 the other way round."""


def batch(**rows):
    said = torch.tensor([math.log(ratio) - 2.0 for ratio in RATIOS], requires_grad=True)
    tokens = {"old_logprobs": torch.full((5,), -2.0), "advantage": torch.tensor(ADVANTAGES)}
    example = torch.tensor([0, 0, 0, 1, 1])
    columns = Columns(
        example=example, num_examples=2, tokens=tokens, rows={n: torch.tensor(column) for n, column in rows.items()}
    )
    return said, columns


def run(text, outputs, columns):
    loss = read_loss(text).value
    return loss(outputs, columns, loss.prepare(columns))


@pytest.mark.parametrize(
    ("per", "shares"),
    [
        ("token", (1 / 5,) * 5),
        ("example", (1 / 6, 1 / 6, 1 / 6, 1 / 4, 1 / 4)),
        ("divisor", (1 / 8, 1 / 8, 1 / 8, 1 / 10, 1 / 10)),
    ],
)
def test_each_token_loses_its_surrogate_times_its_share(per, shares):
    said, columns = batch(**({"divisor": [8.0, 10.0]} if per == "divisor" else {}))
    output = run(f"policy_gradient(normalize_by={per})", Outputs(policy_logprobs=said), columns)
    wanted = sum(s * each for s, each in zip(shares, SURROGATES, strict=True))
    assert output.loss.item() == pytest.approx(wanted, abs=1e-6)
    (gradient,) = torch.autograd.grad(output.loss, said)
    assert gradient.tolist() == pytest.approx([s * each for s, each in zip(shares, GRADIENTS, strict=True)], abs=1e-6)


def test_what_is_shown_are_the_ratio_with_its_range_and_the_share_that_was_clipped():
    said, columns = batch()
    output = run("policy_gradient", Outputs(policy_logprobs=said, entropies=torch.ones(5)), columns)
    means = output.means()
    assert means["ratio"] == pytest.approx(sum(RATIOS) / 5)
    assert output.ranges["ratio"] == pytest.approx((0.5, 1.5))
    assert (means["clip_fraction"], means["clip_fraction_low"], means["clip_fraction_high"]) == pytest.approx(
        (0.4, 0.2, 0.2)
    )
    assert means["approx_kl"] == pytest.approx(sum(r - 1 - math.log(r) for r in RATIOS) / 5)
    assert means["entropy"] == 1.0


def test_a_token_counts_as_clipped_where_the_clip_takes_its_gradient():
    said, columns = batch()
    tokens = {**columns.tokens, "advantage": torch.tensor((2.0, -2.0, -2.0, -2.0, 1.0))}
    output = run("policy_gradient", Outputs(policy_logprobs=said), replace(columns, tokens=tokens))
    (gradient,) = torch.autograd.grad(output.loss, said)
    assert [bool(slope) for slope in gradient] == [False, True, False, False, True]
    means = output.means()
    assert (means["clip_fraction_low"], means["clip_fraction_high"]) == pytest.approx((0.4, 0.2))


def test_high_and_low_clips_are_apart():
    said, columns = batch()
    output = run("policy_gradient(clip_range_high=0.6, clip_range_low=0.6)", Outputs(policy_logprobs=said), columns)
    assert output.means()["clip_fraction"] == 0.0
    assert output.loss.item() == pytest.approx(-sum(r * a for r, a in zip(RATIOS, ADVANTAGES, strict=True)) / 5)
    output = run("policy_gradient(clip_range_high=0.6)", Outputs(policy_logprobs=said), columns)
    assert (output.means()["clip_fraction_low"], output.means()["clip_fraction_high"]) == pytest.approx((0.2, 0.0))


@pytest.mark.parametrize("per", ["token", "example"])
def test_the_entropy_bonus_is_a_mean_over_tokens_whatever_the_rest_is_divided_by(per):
    said, columns = batch()
    entropies = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0], requires_grad=True)
    plain = run(f"policy_gradient(normalize_by={per})", Outputs(policy_logprobs=said), columns).loss
    output = run(
        f"policy_gradient(normalize_by={per}, entropy_coef=0.1)",
        Outputs(policy_logprobs=said, entropies=entropies),
        columns,
    )
    assert (output.loss - plain).item() == pytest.approx(-0.1 * 1.0)
    assert torch.autograd.grad(output.loss, entropies)[0].tolist() == pytest.approx([-0.02] * 5)


def test_sepo_penalises_only_what_became_likelier_than_in_the_reference():
    said, columns = batch(divisor=[4.0, 4.0])
    reference = said.detach() - torch.tensor([0.5, -0.5, 0.0, 1.0, -2.0])
    output = run("sepo", Outputs(policy_logprobs=said, reference_logprobs=reference), columns)
    assert output.loss.item() == pytest.approx((sum(SURROGATES) + 0.1 * 1.5) / 4)
    assert output.means()["kl"] == pytest.approx(1.5 / 5)


def test_a_penalty_of_nothing_is_only_measured():
    said, columns = batch()
    reference = said.detach() - 1.0
    output = run(
        "policy_gradient(kl_estimator=k1)", Outputs(policy_logprobs=said, reference_logprobs=reference), columns
    )
    assert output.loss.item() == pytest.approx(sum(SURROGATES) / 5)
    assert output.means()["kl"] == pytest.approx(1.0)


def test_at_the_first_step_the_gradient_is_the_plain_policy_gradient_and_no_clip_matters():
    said, columns = batch()
    columns.tokens["old_logprobs"][:] = said.detach()
    found = [
        torch.autograd.grad(run(f"policy_gradient({clip})", Outputs(policy_logprobs=said), columns).loss, said)[0]
        for clip in ("", "clip_range_low=0.01, clip_range_high=0.01")
    ]
    assert found[0].tolist() == found[1].tolist() == pytest.approx([-a / 5 for a in ADVANTAGES])
