"""Merging: the base says what its adapter said, has no wrapper, and loads again by the fingerprint it claims."""

import pytest
import torch
from spoken import logits

from stratagem.errors import UnknownName
from stratagem.models.adapters import active, adapter_names, adapter_parameters, add_adapter, current
from stratagem.models.load import load
from stratagem.models.merging import merged, write_model
from stratagem.models.reference import BUILT_IN, BadModel


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
    merged(model, "one")
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
    merged(model, "one")
    plain = logits(model)
    add_adapter(model, "next", rank=2, alpha=4)
    with active(model, "next"):
        assert torch.equal(logits(model), plain)
        model.model(torch.tensor([model.encode("PASS")])).logits.sum().backward()
    assert any(weight.grad is not None and weight.grad.abs().max() > 0 for weight in adapter_parameters(model, "next"))


def test_what_cannot_be_merged_is_refused_and_left_alone():
    model = adapted("tiny", "one", "two")
    with pytest.raises(BadModel, match=r"The adapters two are of the base as it was"):
        merged(model, "one")
    with pytest.raises(UnknownName):
        merged(model, "three")
    assert adapter_names(model) == ["one", "two"]


def test_four_bits_are_refused(monkeypatch):
    model = adapted("tiny", "one")
    monkeypatch.setattr(model.model.get_base_model(), "is_quantized", True, raising=False)
    with pytest.raises(BadModel, match="load the base in bf16"):
        merged(model, "one")
