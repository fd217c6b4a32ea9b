"""Attention of a configuration, and masks against the rule that they follow."""

import pytest
import torch
import transformers

from stratagem.language.models.attention import Attention, attention_of
from stratagem.language.models.reference import BUILT_IN
from stratagem.language.models.tiny import WINDOW, config_of

SLIDING = ["sliding_attention"] * 3 + ["full_attention"]
SAID = {
    "llama": (transformers.LlamaConfig(), Attention(False, None)),
    "mistral": (transformers.MistralConfig(sliding_window=512), Attention(False, 512)),
    "mistral without": (transformers.MistralConfig(sliding_window=None), Attention(False, None)),
    "qwen2": (transformers.Qwen2Config(use_sliding_window=False, sliding_window=64), Attention(False, None)),
    "qwen2 sliding": (
        transformers.Qwen2Config(use_sliding_window=True, sliding_window=64, max_window_layers=2, num_hidden_layers=4),
        Attention(True, 64),
    ),
    "qwen3": (transformers.Qwen3Config(), Attention(False, None)),
    "gemma3": (
        transformers.Gemma3TextConfig(sliding_window=128, layer_types=SLIDING, num_hidden_layers=4),
        Attention(True, 128),
    ),
    "gemma3 in a model that sees": (
        transformers.Gemma3Config(text_config={"sliding_window": 96, "num_hidden_layers": 6}),
        Attention(True, 96),
    ),
    "only sliding": (
        transformers.Gemma3TextConfig(sliding_window=16, layer_types=["sliding_attention"] * 2, num_hidden_layers=2),
        Attention(True, 16),
    ),
    "chunks": (transformers.Llama4TextConfig(num_hidden_layers=4), None),
    "linear": (transformers.Qwen3_5TextConfig(num_hidden_layers=4), None),
}


@pytest.mark.parametrize("name", SAID)
def test_what_configurations_say(name):
    config, expected = SAID[name]
    assert attention_of(config) == expected


def test_what_the_built_in_models_say():
    said = {kind: attention_of(config_of(kind, 300)) for kind in BUILT_IN}
    assert said == {
        "tiny": Attention(False, None),
        "tiny-qwen": Attention(False, None),
        "tiny-gemma": Attention(True, WINDOW),
        "tiny-qwen3.5": None,
    }


def seen(mask):
    """Which columns each query sees: nothing is added for them, and as much as can be is taken off for all others."""
    assert ((mask == 0) | (mask == torch.finfo(mask.dtype).min)).all()
    assert mask.shape[1] == 1
    return [[row.nonzero().flatten().tolist() for row in batch] for batch in mask[:, 0] == 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_query_sees_itself_and_what_is_before_it(dtype):
    mask = Attention(False, None).mask(torch.tensor([[0, 1, 2], [4, 5, 6]]), 7, dtype)
    assert mask.dtype == dtype
    assert seen(mask) == [[[0], [0, 1], [0, 1, 2]], [[*range(5)], [*range(6)], [*range(7)]]]


def test_through_a_window_it_sees_the_last_few():
    mask = Attention(False, 3).mask(torch.tensor([[0, 2, 3], [6, 5, 7]]), 8, torch.float32)
    assert seen(mask) == [[[0], [0, 1, 2], [1, 2, 3]], [[4, 5, 6], [3, 4, 5], [5, 6, 7]]]


def test_each_type_of_layer_has_its_mask():
    positions = torch.tensor([[3]])
    masks = Attention(True, 2).mask(positions, 5, torch.float32)
    assert {name: seen(mask) for name, mask in masks.items()} == {
        "full_attention": [[[0, 1, 2, 3]]],
        "sliding_attention": [[[2, 3]]],
    }
