"""Merging: the base says what its adapter said, has no wrapper, and loads again by the fingerprint it claims."""

import pytest
import torch
from spoken import logits

from stratagem.base.errors import UnknownName
from stratagem.language.models.adapters import active, adapter_names, adapter_parameters, add_adapter, current
from stratagem.language.models.load import load
from stratagem.language.models.merging import merge_adapter, write_model
from stratagem.language.models.reference import BUILT_IN, BadModel
from stratagem.training.runs.weights import restore_weights, writes_model


def adapted(kind, *names):
    model = load(kind)
    generator = torch.Generator().manual_seed(1)
    for name in names:
        add_adapter(model, name, rank=4, alpha=8, dropout=0.1)
        with torch.no_grad():
            for weight in adapter_parameters(model, name):
                weight.normal_(std=0.05, generator=generator)
    return model


@pytest.mark.parametrize("kind", BUILT_IN)
def test_a_merged_base_says_what_its_adapter_said(kind, tmp_path):
    model, plain = adapted(kind, "one"), type(load(kind).model)
    with active(model, "one"):
        said = logits(model)
    before, base = model.fingerprint, logits(model)
    merge_adapter(model, "one")
    assert type(model.model) is plain
    assert (adapter_names(model), current(model)) == ([], None)
    assert not any("lora" in name for name, _ in model.model.named_parameters())
    assert not any(weight.requires_grad for weight in model.model.parameters())
    torch.testing.assert_close(logits(model), said, atol=1e-5, rtol=1e-5)
    assert (said - base).abs().max() > 0.01
    assert model.fingerprint != before
    write_model(model, tmp_path / "written")
    again = load(f"dir:{tmp_path / 'written'}")
    assert again.fingerprint == model.fingerprint
    assert torch.equal(logits(again), logits(model))


def test_a_merged_base_takes_a_new_adapter_that_learns():
    model = adapted("tiny", "one")
    merge_adapter(model, "one")
    plain = logits(model)
    add_adapter(model, "next", rank=2, alpha=4)
    with active(model, "next"):
        assert torch.equal(logits(model), plain)
        model.model(torch.tensor([model.encode("PASS")])).logits.sum().backward()
    assert any(weight.grad is not None and weight.grad.abs().max() > 0 for weight in adapter_parameters(model, "next"))


def gemma4(folder):
    """A small model whose layers have a number beside their weights, which is not trained."""
    from transformers import AutoModelForCausalLM, Gemma4TextConfig

    tokenizer = load("tiny").tokenizer
    sizes = {"hidden_size": 64, "intermediate_size": 96, "head_dim": 16, "global_head_dim": 16}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_kv_shared_layers": 0}
    layers = {"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"]}
    vocabulary = {"vocab_size": len(tokenizer), "hidden_size_per_layer_input": 0}
    config = Gemma4TextConfig(**sizes, **heads, **layers, **vocabulary)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    for layer in model.model.layers:
        layer.layer_scalar.fill_(0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load(f"dir:{folder}")


def test_what_a_model_keeps_beside_its_weights_is_written_too(tmp_path):
    model = gemma4(tmp_path / "made")
    write_model(model, tmp_path / "written")
    again = load(f"dir:{tmp_path / 'written'}")
    assert [float(layer.layer_scalar) for layer in again.model.model.layers] == pytest.approx([0.3, 0.3])
    assert torch.equal(logits(again), logits(model))
    (tmp_path / "checkpoint").mkdir()
    writes_model(model)(tmp_path / "checkpoint")
    with torch.no_grad():
        again.model.lm_head.weight.zero_()
    restore_weights(again, tmp_path / "checkpoint")
    assert torch.equal(logits(again), logits(model))


def test_what_cannot_be_merged_is_refused_and_left_alone():
    model = adapted("tiny", "one", "two")
    with pytest.raises(BadModel, match=r"The adapters two are of the base as it was"):
        merge_adapter(model, "one")
    with pytest.raises(UnknownName):
        merge_adapter(model, "three")
    assert adapter_names(model) == ["one", "two"]


def test_four_bits_are_refused(monkeypatch):
    model = adapted("tiny", "one")
    monkeypatch.setattr(model.model.get_base_model(), "is_quantized", True, raising=False)
    with pytest.raises(BadModel, match="load the base in bf16"):
        merge_adapter(model, "one")
