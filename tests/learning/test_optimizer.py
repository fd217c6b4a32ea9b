"""Steps of the optimizer: schedules, the bound on the gradient, and weights in short formats."""

import copy
import math
from pathlib import Path

import pytest
import torch

from stratagem.base.consent.table import allow
from stratagem.base.errors import BadParameter
from stratagem.learn.optimizer import Optimizer, OptimizerSettings, learning_rate_factor, read_method
from stratagem.learn.schedules import read_schedule


def weights(dtype):
    torch.manual_seed(1)
    return torch.nn.Parameter(torch.randn(40).to(dtype))


def gradients(number):
    return torch.randn(40, generator=torch.Generator().manual_seed(number))


def stepped(optimizer, weight, steps, start=0):
    for number in range(start, start + steps):
        weight.grad = gradients(number).to(weight.dtype)
        optimizer.step()


def test_a_step_is_that_of_adamw_on_the_clipped_gradient():
    ours, theirs = weights(torch.float32), weights(torch.float32)
    optimizer = Optimizer([ours], OptimizerSettings(learning_rate=0.01, weight_decay=0.1, max_grad_norm=0.5), 9)
    adam = torch.optim.AdamW([theirs], lr=0.01, weight_decay=0.1, fused=True)
    for number in range(5):
        ours.grad, theirs.grad = gradients(number), gradients(number)
        wanted = torch.nn.utils.clip_grad_norm_([theirs], 0.5)
        adam.step()
        assert optimizer.step() == pytest.approx(wanted.item())
        assert ours.grad is None
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_gradient_that_is_no_number_moves_nothing(broken):
    weight = weights(torch.float32)
    before, optimizer = weight.detach().clone(), Optimizer([weight], OptimizerSettings(learning_rate=0.1), 9)
    weight.grad = gradients(0)
    weight.grad[3] = broken
    optimizer.step()
    assert torch.equal(weight, before)
    stepped(optimizer, weight, 1)
    assert weight.isfinite().all()
    assert not torch.equal(weight, before)


def test_small_steps_of_short_weights_add_up():
    """A rate at which no single step changes a number of 8 bits of precision."""
    long, short = weights(torch.bfloat16).detach().float().requires_grad_(), weights(torch.bfloat16)
    exact = Optimizer([long], OptimizerSettings(learning_rate=1e-4, max_grad_norm=1e9), 99)
    kept = Optimizer([short], OptimizerSettings(learning_rate=1e-4, max_grad_norm=1e9), 99)
    for _ in range(60):
        long.grad, short.grad = torch.ones(40), torch.ones(40, dtype=torch.bfloat16)
        exact.step()
        kept.step()
    assert short.dtype == torch.bfloat16
    assert torch.equal(short, long.to(torch.bfloat16))
    lost = weights(torch.bfloat16)
    adam = torch.optim.AdamW([lost], lr=1e-4, weight_decay=0.0)
    for _ in range(60):
        lost.grad = torch.ones(40, dtype=torch.bfloat16)
        adam.step()
    assert (lost - long).abs().mean() > 2 * (short - long).abs().mean()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_state_goes_on_to_the_bit(dtype):
    whole, first = weights(dtype), weights(dtype)
    settings = OptimizerSettings(learning_rate=1e-3, schedule="cosine", warmup_ratio=0.3)
    optimizer = Optimizer([whole], settings, 8)
    stepped(optimizer, whole, 8)
    early = Optimizer([first], settings, 8)
    stepped(early, first, 4)
    second = torch.nn.Parameter(first.detach().clone())
    late = Optimizer([second], settings, 8)
    late.restore(copy.deepcopy(early.state()))
    stepped(late, second, 4, start=4)
    assert torch.equal(second, whole)
    assert late.learning_rate == optimizer.learning_rate


def test_a_state_of_another_format_is_refused():
    state = Optimizer([weights(torch.float32)], OptimizerSettings(), 8).state()
    with pytest.raises(BadParameter, match="another format"):
        Optimizer([weights(torch.bfloat16)], OptimizerSettings(), 8).restore(state)


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [
        ("constant", [0.5, 1.0, 1.0, 1.0, 1.0]),
        ("linear", [0.5, 1.0, 1.0, 0.5, 0.0]),
        ("cosine", [0.5, 1.0, 1.0, 0.5, 0.0]),
    ],
)
def test_schedules(schedule, shares):
    settings = OptimizerSettings(schedule=schedule, warmup_ratio=0.2)
    found = [learning_rate_factor(settings, taken, 10) for taken in (0, 1, 2, 6, 10)]
    assert found == pytest.approx(shares)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"betas": [0.9, 1.0]}, r"betas\.1 cannot be 1\.0: .* less than 1"),
        ({"betas": [-0.1, 0.9]}, r"betas\.0 cannot be -0\.1: .* greater than or equal to 0"),
        ({"epsilon": 0.0}, r"epsilon cannot be 0\.0: .* greater than 0"),
    ],
)
def test_what_adam_cannot_take_is_refused_in_a_sentence(settings, said):
    """Without an epsilon a weight that has no gradient is divided by nothing."""
    with pytest.raises(BadParameter, match=said):
        OptimizerSettings.read(settings)


def test_a_loss_that_is_no_number_moves_nothing():
    weight = weights(torch.float32)
    before, optimizer = weight.detach().clone(), Optimizer([weight], OptimizerSettings(learning_rate=0.1), 9)
    weight.grad = gradients(0)
    optimizer.step(float("nan"))
    assert torch.equal(weight, before)


def test_unscaled_weights_take_whole_steps_under_a_scale_of_the_others():
    scaled, whole = weights(torch.float32), weights(torch.float32)
    optimizer = Optimizer([scaled], OptimizerSettings(learning_rate=0.1), 9, unscaled=[whole])
    optimizer.learning_rate_scale = 0.5
    before = scaled.detach().clone()
    scaled.grad, whole.grad = gradients(0), gradients(0)
    optimizer.step()
    assert torch.allclose(whole - before, 2.0 * (scaled - before), atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_reset_optimizer_steps_as_a_new_one(dtype):
    """From the given weights, in full precision, and without the moments of before."""
    settings = OptimizerSettings(learning_rate=1e-3)
    weight, fresh = weights(dtype), weights(dtype)
    used, new = Optimizer([weight], settings, 99), Optimizer([fresh], settings, 99)
    start = fresh.detach().clone()
    stepped(used, weight, 5)
    used.reset([start])
    assert torch.equal(weight, start)
    stepped(used, weight, 3, start=7)
    stepped(new, fresh, 3, start=7)
    assert torch.equal(weight, fresh)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_an_optimizer_goes_on_from_its_snapshot_as_if_nothing_had_been_undone(dtype):
    settings = OptimizerSettings(learning_rate=0.01, schedule="linear")
    weight, other = weights(dtype), weights(dtype)
    undone, straight = Optimizer([weight], settings, 20), Optimizer([other], settings, 20)
    stepped(undone, weight, 3)
    stepped(straight, other, 3)
    before = undone.snapshot()
    stepped(undone, weight, 4, start=9)
    undone.undo(before)
    stepped(undone, weight, 3, start=3)
    stepped(straight, other, 3, start=3)
    assert torch.equal(weight, other)
    assert undone.steps_taken == straight.steps_taken


def test_sgd_is_that_of_torch_with_momentum():
    ours, theirs = weights(torch.float32), weights(torch.float32)
    settings = OptimizerSettings(
        method=read_method("sgd(momentum=0.9)"), learning_rate=0.01, max_grad_norm=float("inf")
    )
    optimizer, sgd = Optimizer([ours], settings, 9), torch.optim.SGD([theirs], lr=0.01, momentum=0.9)
    stepped(optimizer, ours, 3)
    for number in range(3):
        theirs.grad = gradients(number)
        sgd.step()
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("method", ["adamw", "sgd(momentum=0.9)"])
def test_every_method_goes_on_from_its_state(method):
    settings = OptimizerSettings(method=read_method(method), learning_rate=0.01)
    whole, broken = weights(torch.float32), weights(torch.float32)
    first, second = Optimizer([whole], settings, 9), Optimizer([broken], settings, 9)
    stepped(first, whole, 5)
    stepped(second, broken, 3)
    resumed = Optimizer([broken], settings, 9)
    resumed.restore(copy.deepcopy(second.state()))
    stepped(resumed, broken, 2, start=3)
    assert torch.equal(whole, broken)


@pytest.mark.parametrize(
    ("schedule", "factors"),
    [
        ("constant", [1.0, 1.0, 1.0]),
        ("linear", [1.0, 0.5, 0.0]),
        ("linear(end=0.2)", [1.0, 0.6, 0.2]),
        ("cosine", [1.0, 0.5, 0.0]),
        ("cosine(end=0.1)", [1.0, 0.55, 0.1]),
    ],
)
def test_schedules_have_their_factors_at_the_start_the_middle_and_the_end(schedule, factors):
    named = read_schedule(schedule)
    assert [named.value.factor(progress) for progress in (0.0, 0.5, 1.0)] == pytest.approx(factors)


def test_page_shows_the_example_as_it_is_and_it_takes_steps(monkeypatch):
    root = Path(__file__).parents[2]
    page = (root / "docs" / "how-to" / "change-the-optimizer.md").read_text("utf-8")
    assert f"```python\n{(root / 'examples' / 'optimizers.py').read_text('utf-8')}```\n" in page
    monkeypatch.chdir(root)
    allow("examples/optimizers.py")
    schedule = "examples/optimizers.py:InverseRoot(speed=3)"
    settings = OptimizerSettings(method="examples/optimizers.py:RMSprop", learning_rate=0.1, schedule=schedule)
    assert [settings.schedule.value.factor(progress) for progress in (0.0, 1.0)] == [1.0, 0.5]
    ours, theirs = weights(torch.float32), weights(torch.float32)
    stepped(Optimizer([ours], settings.model_copy(update={"max_grad_norm": math.inf}), 1), ours, 1)
    theirs.grad = gradients(0)
    torch.optim.RMSprop([theirs], lr=0.1, alpha=0.999).step()
    assert torch.equal(ours, theirs)


def test_optimizer_and_schedule_of_a_file_take_the_steps(tmp_path, monkeypatch):
    """Signs of the gradient at a learning rate that jumps to a third at half of the steps."""
    (tmp_path / "steps.py").write_text(
        "from dataclasses import dataclass\nimport torch\n"
        "from stratagem.learn.schedules import LearningRateSchedule\n"
        "from stratagem.learn.optimizer import OptimizerMethod\n\n\n"
        "class SignSteps(torch.optim.Optimizer):\n"
        "    def __init__(self, groups, lr):\n        super().__init__(groups, {'lr': lr})\n\n"
        "    @torch.no_grad()\n    def step(self):\n"
        "        for group in self.param_groups:\n            for weight in group['params']:\n"
        "                weight -= group['lr'] * weight.grad.sign()\n\n\n"
        "@dataclass(frozen=True)\nclass Signs(OptimizerMethod):\n"
        "    def make(self, groups, settings, *, foreach):\n"
        "        return SignSteps(groups, settings.learning_rate)\n\n\n"
        "@dataclass(frozen=True)\nclass Jump(LearningRateSchedule):\n    low: float = 0.5\n\n"
        "    def factor(self, progress):\n        return 1.0 if progress < 0.5 else self.low\n",
    )
    monkeypatch.chdir(tmp_path)
    allow("steps.py")
    settings = OptimizerSettings(method="steps.py:Signs", learning_rate=0.25, schedule="steps.py:Jump(low=0.5)")
    weight = torch.nn.Parameter(torch.zeros(2))
    optimizer = Optimizer([weight], settings, 4)
    for _ in range(4):
        weight.grad = torch.tensor([3.0, -0.001])
        optimizer.step()
    assert weight.tolist() == [-0.75, 0.75]


@pytest.mark.parametrize("method", ["adamw", "sgd"])
def test_a_step_counts_as_a_change_of_the_weights(method):
    weight = weights(torch.float32)
    before = weight._version
    stepped(Optimizer([weight], OptimizerSettings(method=method), 9), weight, 1)
    assert weight._version > before
