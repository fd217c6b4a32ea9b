"""Architectures with random weights: which of them share prefixes, and that replies and log-probabilities are right."""

import random
import warnings

import pytest
import torch
import transformers
from numbered import asked, said
from plainly import all_logits

from stratagem.language.engines.choose_reader import reader_for
from stratagem.language.engines.plain_reader import PlainReader
from stratagem.language.engines.reader import AdapterText, SharingReader
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.transformers_settings import TransformersSettings
from stratagem.language.models.language_model import LanguageModel
from stratagem.learn.example import Example
from stratagem.learn.policy import Policy

HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}
SHAPE = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "max_position_embeddings": 512, **HEADS}
GEMMA = {"head_dim": 16, "sliding_window": 32}
SHARED_CACHE = {
    "layer_types": ["sliding_attention", "full_attention"] * 2,
    "num_kv_shared_layers": 2,
    "hidden_size_per_layer_input": 16,
    "global_head_dim": 32,
}
ARCHITECTURES = {
    "Llama": ("LlamaConfig", "LlamaForCausalLM", {}),
    "Mistral": ("MistralConfig", "MistralForCausalLM", {"sliding_window": 32}),
    "Qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {"head_dim": 16}),
    "OLMo 2": ("Olmo2Config", "Olmo2ForCausalLM", {"eos_token_id": None}),
    "Gemma 2": (
        *("Gemma2Config", "Gemma2ForCausalLM"),
        {**GEMMA, "query_pre_attn_scalar": 16, "attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0},
    ),
    "Gemma 3": ("Gemma3TextConfig", "Gemma3ForCausalLM", {**GEMMA, "query_pre_attn_scalar": 16}),
    "Gemma 4": ("Gemma4TextConfig", "Gemma4ForCausalLM", {**GEMMA, **SHARED_CACHE}),
    "Qwen 3.5": ("Qwen3_5TextConfig", "Qwen3_5ForCausalLM", {"head_dim": 16}),
}
"""Configuration, model class and settings; the last has linear attention, which takes no mask."""
SHARING = [name for name in ARCHITECTURES if name != "Qwen 3.5"]


@pytest.fixture
def make(tiny):
    """Make a model of an architecture, with tiny's tokenizer."""

    def made(name, dtype="fp32"):
        config, model, more = ARCHITECTURES[name]
        size = tiny.model.config.vocab_size
        more = {"vocab_size_per_layer_input": size, **more} if name == "Gemma 4" else more
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made_config = getattr(transformers, config)(vocab_size=size, **SHAPE, **more)
            net = getattr(transformers, model)(made_config).eval()
        for weight in net.parameters():
            if weight.dim() > 1:
                weight.data.mul_(2.0)  # so that attention matters
        net = net.to(torch.bfloat16 if dtype == "bf16" else torch.float32).requires_grad_(False)
        return LanguageModel(net, tiny.tokenizer, name, "cpu", dtype, name)

    return made


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_prefixes_are_shared_where_masks_can_be_given(make, name, dtype):
    lm = make(name, dtype)
    assert isinstance(reader_for(lm, 1 << 28), SharingReader if name in SHARING else PlainReader), lm.reading
    assert Policy(lm).share_prefixes == (name in SHARING), lm.reading


@pytest.mark.parametrize("name", SHARING)
def test_shared_logits_are_those_of_a_plain_pass(make, name):
    lm, dice = make(name), random.Random(0)
    reader = reader_for(lm, 1 << 28)
    trunk = [dice.randrange(1500) for _ in range(70)]
    texts = [AdapterText("", (*trunk[:cut], *(dice.randrange(1500) for _ in range(9)))) for cut in (70, 70, 50, 33, 8)]
    for _ in range(2):
        with torch.inference_mode(), reader.weights.under([""]):
            rows = reader.read(texts)
        for text, row in zip(texts, rows, strict=True):
            torch.testing.assert_close(row, all_logits(lm, text.tokens)[-1], atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("name", ["Gemma 2", "Gemma 4", "Qwen 3.5"])
def test_replies_are_the_same_alone_and_together(make, name):
    lm = make(name)
    together = TransformersEngine(lm, TransformersSettings(rows=5))
    calls = together.answer([asked(together, number) for number in range(7)])
    alone = TransformersEngine(lm, TransformersSettings(prefix_cache_mib=0))
    for number, call in enumerate(calls):
        (expected,) = alone.answer([asked(alone, number)])
        assert said(call) == said(expected)
        assert call.sampler_logprobs == pytest.approx(expected.sampler_logprobs, abs=1e-3)


@pytest.mark.parametrize("name", ["Gemma 2", "Gemma 4"])
def test_packed_logprobs_are_those_of_a_plain_pass(make, name):
    lm, dice = make(name), random.Random(1)
    trunk = tuple(dice.randrange(1500) for _ in range(60))
    texts = [(*trunk, *(dice.randrange(1500) for _ in range(8))) for _ in range(5)]
    examples = [Example(tokens=text, loss_positions=tuple(range(60, 68))) for text in texts]
    policy = Policy(lm)
    (pack,) = policy.packs(examples)
    with torch.no_grad():
        logprobs = policy.outputs(pack, examples).logprobs.reshape(5, 8)
    for number, row in zip(pack.examples, logprobs, strict=True):
        every = torch.log_softmax(all_logits(lm, texts[number]), -1)
        plain = torch.stack([every[at - 1, texts[number][at]] for at in range(60, 68)])
        torch.testing.assert_close(row, plain, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("name", SHARING)
def test_gradients_by_branch_are_those_of_dense_masks(make, name):
    """Windows of 32 tokens are counted by depth; the soft cap of Gemma 2 is left to its own attention.

    The layers compute in fp64: these random weights make the rounding of fp32 a hundred times as large.
    """
    lm, dice = make(name), random.Random(1)
    lm.model.requires_grad_(True).double()
    trunk = tuple(dice.randrange(1500) for _ in range(60))
    texts = [(*trunk[: 60 - 9 * n], *(dice.randrange(1500) for _ in range(8))) for n in range(4)]
    examples = [Example(tokens=text, loss_positions=tuple(range(len(text) - 8, len(text)))) for text in texts]
    assert Policy(lm).wide == ("dense" if name == "Gemma 2" else "branches"), lm.reading
    if name == "Gemma 2":
        return
    results = []
    for kind in ("dense", "branches"):
        policy = Policy(lm, attention=kind)
        (pack,) = policy.packs(examples)
        lm.model.zero_grad(set_to_none=True)
        logprobs = policy.outputs(pack, examples).logprobs
        logprobs.mean().backward()
        results.append([logprobs.detach(), *(each.grad for each in lm.model.parameters() if each.grad is not None)])
    for found, expected in zip(*results, strict=True):
        assert (found - expected).abs().max() <= 1e-6 * max(1.0, expected.abs().max())
