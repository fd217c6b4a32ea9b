"""Settings and formats of a policy: they change memory and time, and gradients by rounding alone."""

import pytest
import torch

from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import example_from_demonstration
from stratagem.learn.policy import Policy

FAMILIES = ("tiny", "tiny-qwen", "tiny-gemma", "tiny-qwen3.5")
ROWS = [example_from_demonstration((5, 9, 70, 31, place), (place + 3, 40, 41)) for place in range(8, 14)]


def with_adapter(kind, dtype="fp32"):
    """A model whose adapter already says something."""
    lm = load(kind, dtype=dtype)
    add_adapter(lm, "one", 4, 8.0)
    torch.manual_seed(3)
    with torch.no_grad():
        for weight in adapter_parameters(lm, "one"):
            weight += 0.05 * torch.randn_like(weight)
    return lm


@pytest.fixture(scope="module", params=FAMILIES)
def adapted(request):
    """A model with an adapter for tests that change no weight."""
    return with_adapter(request.param)


def gradients(lm, **options):
    """Of all that is said, log-probabilities and entropies, to every weight that is trained."""
    policy = Policy(lm, **options)
    with active(lm, "one"):
        for pack in policy.packs(ROWS):
            said = policy.outputs(pack, ROWS)
            (said.logprobs.sum() + 0.3 * said.entropies.sum()).backward()
    trained = [weight for weight in lm.model.parameters() if weight.requires_grad]
    found = [weight.grad.clone() for weight in trained]
    lm.model.zero_grad(set_to_none=True)
    return found


@pytest.fixture(scope="module")
def plain(adapted):
    """Gradients of an adapter by plain passes."""
    return gradients(adapted)


@pytest.mark.parametrize("base", [False, True])
def test_computing_again_changes_no_gradient(adapted, plain, base):
    if base:
        adapted.model.requires_grad_(True)
        plain = gradients(adapted)
    again = gradients(adapted, gradient_checkpointing=True)
    adapted.model.requires_grad_(False)
    for weight in adapter_parameters(adapted, "one"):
        weight.requires_grad_(True)
    assert max(grad.abs().max() for grad in plain) > 1e-2
    for one, other in zip(again, plain, strict=True):
        assert torch.allclose(one, other, atol=1e-5 * max(1.0, other.abs().max().item()))


def test_computing_again_is_for_passes_with_a_gradient_alone():
    lm, passes = with_adapter("tiny"), []
    policy = Policy(lm, gradient_checkpointing=True)
    layer = lm.model.get_base_model().model.layers[0]
    layer.mlp.gate_proj.register_forward_pre_hook(lambda *_: passes.append(1))
    with active(lm, "one"):
        (pack,) = policy.packs(ROWS)
        with torch.no_grad():
            policy.outputs(pack, ROWS)
        assert len(passes) == 1
        policy.outputs(pack, ROWS).logprobs.sum().backward()
    assert len(passes) == 3
    assert "forward" not in vars(layer)


def kept(lm, **options):
    """Bytes that wait for the backward pass, weights apart."""
    weights = {weight.data_ptr() for weight in lm.model.parameters()}
    found = {}

    def keep(tensor):
        if tensor.data_ptr() not in weights:
            found[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    policy = Policy(lm, **options)
    with active(lm, "one"), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        said = [policy.outputs(pack, ROWS) for pack in policy.packs(ROWS)]
    assert said[0].logprobs.requires_grad
    return sum(storage.nbytes() for storage in found.values())


def test_computing_again_keeps_little(adapted):
    assert kept(adapted, gradient_checkpointing=True) < 0.35 * kept(adapted)


def test_in_bf16_gradients_point_the_same_way(adapted, plain):
    """Within 3 % of the direction and 5 % of the length; a base of 8 bits of precision gives no more."""
    exact = torch.cat([grad.flatten() for grad in plain])
    lm = with_adapter(adapted.name, "bf16")
    weights = adapter_parameters(lm, "one")
    assert {weight.dtype for weight in weights} == {torch.float32}
    assert lm.model.get_input_embeddings().weight.dtype == torch.bfloat16
    short = torch.cat([grad.flatten() for grad in gradients(lm)])
    assert torch.cosine_similarity(short, exact, dim=0) > 0.97
    assert abs(short.norm() / exact.norm() - 1.0) < 0.05
