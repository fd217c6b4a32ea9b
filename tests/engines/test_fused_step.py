"""Fused steps with packed weights: the models that they fit, equal logits, adapters, changed weights, and refusals."""

import os
from threading import Thread
from types import SimpleNamespace

import pytest
import torch
from numbered import asked, said
from plainly import disturb
from test_architectures import ARCHITECTURES, make  # noqa: F401 - a fixture
from transformers import LlamaConfig, LlamaForCausalLM

from stratagem.base.garbage import MemoryReturn, resident_memory
from stratagem.language.engines import fused_step
from stratagem.language.engines.choose_reader import reader_for
from stratagem.language.engines.fused_step import FusedStep, PackedLinear, PlainLinear
from stratagem.language.engines.reader import SharingReader
from stratagem.language.engines.steps import ModelStep
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.transformers_settings import TransformersSettings
from stratagem.language.models.adapters import active, add_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load
from stratagem.training.policy import TrainablePolicy

FITTING = ("Llama", "Mistral", "Qwen3")
OWN_LAYERS = TransformersSettings(packed_weights_mib=0)


def close(calls, others):
    assert [said(call) for call in calls] == [said(call) for call in others]
    for call, other in zip(calls, others, strict=True):
        assert call.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-4)


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "Qwen 3.5"])
def test_llama_like_models_are_read_by_packed_weights(make, name):  # noqa: F811
    lm = make(name)
    engine = TransformersEngine(lm)
    assert isinstance(engine.reader, SharingReader)
    assert lm.reading["rollouts"].endswith("; by packed weights") == (name in FITTING)
    assert ("; by the model's own layers, since its " in lm.reading["rollouts"]) == (name not in FITTING)
    calls = engine.answer([asked(engine, number) for number in range(12)])
    own = TransformersEngine(lm, OWN_LAYERS)
    close(calls, own.answer([asked(own, number) for number in range(12)]))


def test_biases_are_packed(make):  # noqa: F811
    lm = make("Llama")
    layer = lm.model.model.layers[0]
    for module in (layer.self_attn.q_proj, layer.mlp.down_proj):
        module.bias = torch.nn.Parameter(torch.randn(module.out_features), requires_grad=False)
    reader_for(lm, 1 << 28)
    assert lm.reading["rollouts"].endswith("; by packed weights")


@pytest.fixture(scope="module")
def manned():
    """A model with two adapters, of which one leaves most layers alone."""
    lm = load("tiny")
    for seed, (name, targets) in enumerate({"one": None, "two": ["v_proj", "down_proj"]}.items(), 1):
        add_adapter(lm, name, rank=2 * seed, alpha=8, targets=targets)
        disturb(lm, name, seed)
    return lm


@pytest.mark.parametrize("names", [("one",), ("two",), ("", "two"), ("", "one", "two")], ids=str)
def test_adapters_are_read_beside_packed_weights(manned, names):
    engine, own = TransformersEngine(manned), TransformersEngine(manned, OWN_LAYERS)
    both = [[asked(e, number, adapter=names[number % len(names)]) for number in range(12)] for e in (engine, own)]
    calls = engine.answer(both[0])
    close(calls, own.answer(both[1]))
    base = engine.answer([asked(engine, number) for number in range(12)])
    assert [call.tokens for call in calls] != [call.tokens for call in base]


def test_an_adapter_that_is_made_after_the_engine_is_read():
    lm = load("tiny")
    engine = TransformersEngine(lm)
    base = engine.answer([asked(engine, number) for number in range(6)])
    add_adapter(lm, "late", rank=2, alpha=8)
    disturb(lm, "late", 1)
    own = TransformersEngine(lm, OWN_LAYERS)
    calls = engine.answer([asked(engine, number, adapter="late") for number in range(6)])
    close(calls, own.answer([asked(own, number, adapter="late") for number in range(6)]))
    assert [call.tokens for call in calls] != [call.tokens for call in base]


def test_weights_of_the_base_are_packed_anew_when_they_are_published():
    lm = load("tiny")
    engine = TransformersEngine(lm)
    before = engine.answer([asked(engine, number) for number in range(6)])
    with torch.no_grad():
        lm.model.model.layers[0].mlp.gate_proj.weight.normal_(std=0.3)
    engine.publish("", 1)
    calls = engine.answer([asked(engine, number) for number in range(6)])
    own = TransformersEngine(lm, OWN_LAYERS)
    own.publish("", 1)
    close(calls, own.answer([asked(own, number) for number in range(6)]))
    assert [call.tokens for call in calls] != [call.tokens for call in before]


@pytest.mark.runs
@pytest.mark.linux
def test_released_copy_weighs_as_much_as_the_weights():
    config = LlamaConfig(
        hidden_size=512, intermediate_size=2048, num_hidden_layers=4, num_attention_heads=8, vocab_size=1583
    )
    lm = LanguageModel(LlamaForCausalLM(config).eval(), load("tiny").tokenizer, "wide", "cpu", "fp32", "")
    engine = TransformersEngine(lm)
    before = engine.answer([asked(engine, number) for number in range(4)])
    engine.reset_cache()
    weights = sum(module.weight.nbytes for module in lm.model.modules() if type(module) is torch.nn.Linear)
    full = resident_memory(os.getpid())
    engine.release_copy()
    MemoryReturn(0.0)()  # small blocks stay with the C library, for the next use of this process
    assert lm.reading["rollouts"].endswith("by packed weights")
    assert full - resident_memory(os.getpid()) > 0.9 * weights
    again = engine.answer([asked(engine, number) for number in range(4)])
    assert [(said(call), call.sampler_logprobs) for call in again] == [
        (said(call), call.sampler_logprobs) for call in before
    ]


def test_copy_is_not_freed_within_another_threads_pass(monkeypatch):
    engine, numbers = TransformersEngine(load("tiny")), range(4)
    engine.answer([asked(engine, number) for number in numbers])
    go_on, kept = engine.reader.go_on, []

    def interrupted(*args):
        thread = Thread(target=engine.release_copy)
        thread.start()
        thread.join(0.02)
        kept.append(len(engine.reader.step.layers))
        monkeypatch.undo()
        return go_on(*args)

    monkeypatch.setattr(engine.reader, "go_on", interrupted)
    engine.answer([asked(engine, number) for number in numbers])
    assert kept == [4]


def test_update_has_the_memory_of_the_packed_weights():
    policy, engine, packed = object.__new__(TrainablePolicy), TransformersEngine(load("tiny")), []
    engine.answer([asked(engine, number) for number in range(4)])
    learner = SimpleNamespace(
        update_once=lambda _: packed.append(len(engine.reader.step.layers)),
        optimizer=SimpleNamespace(steps_taken=1),
    )
    policy.engine, policy.learner, policy.optimizer_steps, policy.adapter = engine, learner, 1, None
    policy.policy = SimpleNamespace(gather_weights=lambda: None)
    assert len(engine.reader.step.layers) == 4
    policy.update_weights([])
    assert packed == [0]


@pytest.mark.usefixtures("probing_anew")
def test_broken_packed_weights_are_found_and_not_used(tiny, monkeypatch):
    def broken(self, layers):
        packed(self, layers)
        if len(layers) == 2:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(torch.cat([one.weight * 0.9 for one in layers]), 32)

    packed = PackedLinear.__init__
    monkeypatch.setattr(PackedLinear, "__init__", broken)
    with pytest.warns(UserWarning, match="tiny is read by its own layers: it deviates by "):
        reader = reader_for(tiny, 1 << 28)
    assert isinstance(reader.step, ModelStep)
    assert "; by the model's own layers, since it deviates by " in tiny.reading["rollouts"]


@pytest.mark.usefixtures("probing_anew")
def test_an_operation_that_fails_is_said_and_not_used(tiny, monkeypatch):
    monkeypatch.setattr(PackedLinear, "__call__", lambda *_: torch.zeros(1, 1).view(7))
    with pytest.warns(UserWarning, match="tiny is read by its own layers: RuntimeError: "):
        reader = reader_for(tiny, 1 << 28)
    assert isinstance(reader.step, ModelStep)


@pytest.mark.parametrize(
    ("dtype", "device", "reason"),
    [
        (torch.float16, "cpu", "weights in torch.float16 cannot be packed"),
        (torch.float16, "cuda", None),
        (torch.float32, "mps", "weights are packed on processors only, not on mps"),
        (torch.bfloat16, "cpu", None),
    ],
)
def test_processors_pack_two_formats(dtype, device, reason):
    assert fused_step.packing_problem(dtype, torch.device(device)) == reason


def test_a_model_that_is_too_large_is_read_by_its_own_layers(tiny):
    reader_for(tiny, 1 << 28, packed_mib=1)
    assert "packed weights would take " in tiny.reading["rollouts"]


def test_weights_are_read_where_they_are_on_a_gpu(manned, monkeypatch):
    monkeypatch.setattr(fused_step, "PackedLinear", PlainLinear)
    engine, own = TransformersEngine(manned), TransformersEngine(manned, OWN_LAYERS)
    assert isinstance(engine.reader.step, FusedStep)
    names = ("", "one", "two")
    both = [[asked(e, number, adapter=names[number % 3]) for number in range(12)] for e in (engine, own)]
    close(engine.answer(both[0]), own.answer(both[1]))


def test_plain_layers_compute_what_packed_ones_do():
    layers = [torch.nn.Linear(8, size, bias=size > 4) for size in (3, 5)]
    x = torch.randn(7, 8)
    with torch.inference_mode():
        expected = torch.cat([layer(x) for layer in layers], dim=-1)
        for kind in (PackedLinear, PlainLinear):
            assert torch.allclose(kind(layers)(x), expected, atol=1e-5)


def test_the_active_adapter_of_the_learner_stays(manned):
    engine = TransformersEngine(manned)
    with active(manned, "one"):
        calls = engine.answer([asked(engine, number) for number in range(4)])
    own = TransformersEngine(manned, OWN_LAYERS)
    close(calls, own.answer([asked(own, number) for number in range(4)]))
