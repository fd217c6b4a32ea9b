"""The value loss and PPO against the formulas of trl 0.11, written again over padded batches with a mask."""

import pytest
import torch

from stratagem.learn.losses.base import Columns, Outputs
from stratagem.learn.losses.catalogue import read_loss
from stratagem.learn.losses.ppo import PPO

LENGTHS = torch.tensor([5, 2, 4, 1])
MASK = torch.arange(5) < LENGTHS[:, None]


def padded(seed):
    """Columns of a batch of four replies of up to five tokens; what stands beyond a reply's end is rubbish."""
    generator = torch.Generator().manual_seed(seed)
    names = ("said", "old", "advantage", "value", "old_value", "return")
    columns = {name: torch.randn(4, 5, generator=generator, dtype=torch.float64) for name in names}
    columns["said"] = columns["old"] + 0.3 * columns["said"]
    columns["value"] = columns["old_value"] + 0.3 * columns["value"]
    for name in ("said", "value"):
        columns[name].requires_grad_(True)
    return columns


def mean(values):
    return (values * MASK).sum() / MASK.sum()


def reference(some, clip, value_clip, c_vf):
    """Policy loss, value loss and what is shown of them, as PPOTrainer.loss computes them."""
    rho = torch.exp(some["said"] - some["old"])
    gains = torch.max(-some["advantage"] * rho, -some["advantage"] * torch.clamp(rho, 1.0 - clip, 1.0 + clip))
    low, high = some["old_value"] - value_clip, some["old_value"] + value_clip
    plain = (some["value"] - some["return"]) ** 2
    near = (torch.max(torch.min(some["value"], high), low) - some["return"]) ** 2
    value = 0.5 * mean(torch.max(plain, near))
    spread = mean((some["return"] - mean(some["return"])) ** 2)
    shown = {
        "value/clip_fraction": mean((near > plain).double()),
        "value/explained_variance": 1.0 - mean(plain) / spread,
        "policy/ratio": mean(rho),
    }
    return mean(gains) + c_vf * value, {name: figure.item() for name, figure in shown.items()}


def ours(some, text):
    example = torch.arange(4)[:, None].expand(4, 5)[MASK]
    names = {"old": "old_logprobs", "advantage": "advantage", "old_value": "old_value", "return": "return"}
    tokens = {name: some[column].detach()[MASK] for column, name in names.items()}
    columns = Columns(example=example, num_examples=4, tokens=tokens)
    loss = read_loss(text).value
    outputs = Outputs(policy_logprobs=some["said"][MASK], values=some["value"][MASK])
    return loss(outputs, columns, loss.prepare(columns))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("clip", "value_clip", "c_vf"), [(0.2, 0.2, 0.2), (0.1, 0.4, 0.01), (0.05, 0.01, 2.0)])
def test_ppo_is_that_of_trl(seed, clip, value_clip, c_vf):
    some = padded(seed)
    theirs, shown = reference(some, clip, value_clip, c_vf)
    output = ours(some, f"ppo(clip_range={clip}, clip_range_value={value_clip}, value_coef={c_vf})")
    assert output.loss.item() == pytest.approx(theirs.item(), abs=1e-9)
    learning = [some["said"], some["value"]]
    for found, wanted in zip(
        torch.autograd.grad(output.loss, learning), torch.autograd.grad(theirs, learning), strict=True
    ):
        assert torch.allclose(found, wanted, atol=1e-9)
    means = output.means()
    assert {name: means[name] for name in shown} == pytest.approx(shown, abs=1e-6)


def single(value, old_value, came):
    """One token: its loss and the gradient that reaches the value."""
    head = torch.tensor([value], requires_grad=True)
    tokens = {"return": torch.tensor([came]), "old_value": torch.tensor([old_value])}
    columns = Columns(example=torch.zeros(1, dtype=torch.long), num_examples=1, tokens=tokens)
    loss = read_loss("value").value
    output = loss(Outputs(policy_logprobs=torch.zeros(1), values=head), columns, loss.prepare(columns))
    return output.loss.item(), torch.autograd.grad(output.loss, head)[0].item()


def test_a_value_that_ran_ahead_of_the_old_one_towards_the_return_learns_nothing_more():
    assert single(1.0, 0.0, 2.0) == pytest.approx(((0.2 - 2.0) ** 2 / 2, 0.0))


def test_a_value_that_ran_away_from_the_return_is_called_back():
    assert single(-1.0, 0.0, 2.0) == pytest.approx((4.5, -3.0))


@pytest.mark.parametrize(("values", "explained"), [([1.0, 3.0], 1.0), ([2.0, 2.0], 0.0), ([3.0, 1.0], -3.0)])
def test_explained_variance_is_one_for_the_truth_and_nothing_for_the_mean(values, explained):
    tokens = {"return": torch.tensor([1.0, 3.0])}
    columns = Columns(example=torch.arange(2), num_examples=2, tokens=tokens)
    loss = read_loss("value(clip_range=None)").value
    outputs = Outputs(policy_logprobs=torch.zeros(2), values=torch.tensor(values))
    assert loss(outputs, columns, loss.prepare(columns)).means()["explained_variance"] == pytest.approx(explained)


def test_returns_that_are_all_alike_leave_nothing_to_explain():
    columns = Columns(example=torch.arange(2), num_examples=2, tokens={"return": torch.ones(2)})
    loss = read_loss("value(clip_range=None)").value
    outputs = Outputs(policy_logprobs=torch.zeros(2), values=torch.zeros(2))
    assert "explained_variance" not in loss(outputs, columns, loss.prepare(columns)).means()


def test_ppo_docstring_names_proximal_policy_optimization():
    assert (PPO.__doc__ or "").startswith("Proximal policy optimization (PPO)")
