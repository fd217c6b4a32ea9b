"""The quick layer says what peft's says, and leaves to peft what is not plain."""

import pytest
import torch
from peft.tuners.lora.layer import Linear

from stratagem.language.models.adapters import active, adapter_parameters, add_adapter, lora_layers
from stratagem.language.models.load import load
from stratagem.language.models.lora_linear import LoRAProduct, QuickLinear, quicken


@pytest.fixture
def lm():
    lm = load("tiny-qwen")
    for number, name in enumerate(("one", "two")):
        add_adapter(lm, name, 3 + number, 8.0)
        torch.manual_seed(number)
        for weight in adapter_parameters(lm, name):
            weight.data += 0.1 * torch.randn_like(weight)
    return lm


def both(layer, x):
    """Return the output, and the gradients to the input and to the factors of the active adapter."""
    x = x.clone().requires_grad_()
    out = layer(x)
    name = layer.active_adapters[0]
    factors = [layer.lora_A[name].weight, layer.lora_B[name].weight]
    given = torch.linspace(-1.0, 1.0, out.numel()).reshape(out.shape)
    return [out, *torch.autograd.grad(out, [x, *factors], given)]


@pytest.mark.parametrize("shape", [(5,), (2, 7), (2, 3, 4)])
@pytest.mark.parametrize("name", ["one", "two"])
def test_it_says_and_learns_what_pefts_layer_does(lm, shape, name):
    with active(lm, name):
        for number, layer in enumerate(list(lora_layers(lm))[:8]):
            x = torch.randn(*shape, layer.in_features)
            if number % 2:
                layer.get_base_layer().bias = torch.nn.Parameter(torch.randn(layer.out_features), requires_grad=False)
            assert type(layer) is QuickLinear
            quick = both(layer, x)
            layer.__class__ = Linear
            for one, other in zip(quick, both(layer, x), strict=True):
                assert torch.allclose(one, other, atol=1e-4)


@pytest.fixture
def taken(monkeypatch):
    """Return the number of fast passes."""
    calls = []
    apply = LoRAProduct.apply
    monkeypatch.setattr(LoRAProduct, "apply", lambda *args: calls.append(1) or apply(*args))
    return calls


def first(lm):
    return next(iter(lora_layers(lm)))


def test_the_base_alone_is_the_base(lm, taken):
    layer = first(lm)
    x = torch.randn(3, layer.in_features)
    with active(lm, None):
        assert torch.equal(layer(x), layer.get_base_layer()(x))
    assert not taken


def test_dropout_at_work_is_left_to_peft(lm, taken):
    layer = first(lm)
    x = torch.randn(3, layer.in_features)
    layer.lora_dropout["one"] = torch.nn.Dropout(0.5)
    with active(lm, "one"):
        layer.lora_dropout["one"].train()
        assert not torch.equal(layer(x), layer(x))
        assert not taken
        layer.lora_dropout["one"].eval()
        assert torch.equal(layer(x), layer(x))
        assert len(taken) == 2


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4)])
def test_over_a_base_in_a_short_format_it_rounds_once_more(lm, taken, shape):
    """Outputs and gradients are those of fp32 to the rounding of bfloat16, and the factors' gradients are in fp32."""
    with active(lm, "one"):
        for layer in list(lora_layers(lm))[:8]:
            x = torch.randn(*shape, layer.in_features).bfloat16()
            layer.get_base_layer().bfloat16()
            short = both(layer, x)
            assert taken.pop()
            layer.get_base_layer().float()
            exact = both(layer, x.float())
            assert [one.dtype for one in short] == [torch.bfloat16] * 2 + [torch.float32] * 2
            for one, other in zip(short, exact, strict=True):
                assert (one.float() - other).norm() < 0.01 * other.norm()
            taken.clear()


@pytest.mark.parametrize("change", ["trained base", "another format"])
def test_what_is_not_plain_is_left_to_peft(lm, taken, change):
    layer = first(lm)
    base = layer.get_base_layer()
    if change == "trained base":
        base.weight.requires_grad_(True)
    else:
        layer.lora_A["one"].double()
        layer.lora_B["one"].double()
    x = torch.randn(3, layer.in_features, dtype=base.weight.dtype)
    with active(lm, "one"):
        out = layer(x)
        assert not taken
        out.float().sum().backward()
    assert layer.lora_A["one"].weight.grad.abs().max() > 0
    assert (base.weight.grad is not None) == (change == "trained base")


def test_layers_of_another_kind_stay_as_they_are():
    plain = torch.nn.Linear(3, 3)
    quicken(plain)
    assert type(plain) is torch.nn.Linear
