"""A fused RMS norm gives what the norm of transformers gives, and its gradients; another norm stays as it is."""

import copy

import pytest
import torch
from transformers.models.gemma3.modeling_gemma3 import Gemma3RMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5RMSNorm, Qwen3_5RMSNormGated

from stratagem.language.models.fused_norms import FusedNorm, FusedNormPlusOne, fuse_norms
from stratagem.language.models.load import load

KINDS = {LlamaRMSNorm: FusedNorm, Gemma3RMSNorm: FusedNormPlusOne, Qwen3_5RMSNorm: FusedNormPlusOne}
ROUNDING = {torch.float32: 1e-5, torch.bfloat16: 1e-2}


def norm(kind, dtype):
    torch.manual_seed(1)
    module = kind(48, eps=1e-6)
    module.weight.data = torch.rand(48) + 0.5
    return module.to(dtype)


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_and_gradients_are_those_of_transformers(kind, dtype):
    plain = norm(kind, dtype)
    fused = copy.deepcopy(plain)
    assert fuse_norms(fused) == 1
    assert type(fused) is KINDS[kind]
    for size in (1.0, 1e-3, 30.0):
        found = []
        for module in (plain, fused):
            x = (size * torch.randn(5, 3, 48, generator=torch.Generator().manual_seed(2))).to(dtype).requires_grad_()
            out = module(x)
            given = torch.linspace(-1.0, 1.0, out.numel()).reshape(out.shape).to(dtype)
            found.append([out, *torch.autograd.grad(out, [x, module.weight], given)])
        for one, other in zip(*found, strict=True):
            assert one.dtype == other.dtype == dtype
            assert (one - other).float().norm() <= ROUNDING[dtype] * other.float().norm()


class Centred(LlamaRMSNorm):
    """Norm by another arithmetic, under the name of an RMS norm."""

    def forward(self, x):
        return super().forward(x - x.mean(-1, keepdim=True))


class CentredRMSNorm(Centred):
    """As above; the name alone is that of a norm that is replaced."""


class EarlierRMSNorm(LlamaRMSNorm):
    """Norm whose epsilon is another than it says."""

    def forward(self, x):
        return torch.nn.functional.rms_norm(x, self.weight.shape, self.weight, 1e-4)


@pytest.mark.parametrize("kind", [CentredRMSNorm, EarlierRMSNorm, Qwen3_5RMSNormGated])
def test_another_norm_stays_as_it_is(kind):
    module = norm(kind, torch.float32)
    x, before = torch.randn(2, 48), dict(vars(module))
    more = [torch.randn(2, 48)] if kind is Qwen3_5RMSNormGated else []
    expected = module(x, *more)
    assert fuse_norms(module) == 0
    assert type(module) is kind
    assert vars(module).keys() == before.keys()
    assert torch.equal(module(x, *more), expected)


@pytest.mark.parametrize("name", ["tiny", "tiny-qwen", "tiny-gemma", "tiny-qwen3.5"])
def test_a_model_with_fused_norms_says_the_same(name):
    lm = load(name)
    ids = torch.arange(5, 40)[None]
    with torch.inference_mode():
        expected = lm.model(input_ids=ids).logits
        assert fuse_norms(lm.model) > 0
        found = lm.model(input_ids=ids).logits
    assert not torch.equal(found, torch.zeros_like(found))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
