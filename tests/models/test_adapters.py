"""Adapters: several on one base, one at work, and the base as it was."""

import json

import pytest
import torch
from spoken import logits

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.language.models.adapters import (
    active,
    adapter_names,
    adapter_parameters,
    add_adapter,
    current,
    load_adapter,
    save_adapter,
)
from stratagem.language.models.load import load
from stratagem.language.models.reference import BUILT_IN


def with_two(kind="tiny"):
    """A model with two adapters that do something."""
    model = load(kind)
    generator = torch.Generator().manual_seed(1)
    for name in ("one", "two"):
        add_adapter(model, name, rank=4, alpha=8)
        with torch.no_grad():
            for weight in adapter_parameters(model, name):
                weight.normal_(std=0.05, generator=generator)
    return model


@pytest.mark.parametrize("kind", BUILT_IN)
def test_two_adapters_speak_differently_and_switching_back_gives_the_same_bits(kind):
    plain, model = logits(load(kind)), with_two(kind)
    assert torch.equal(logits(model), plain)
    with active(model, "one"):
        first = logits(model)
        with active(model, "two"):
            second = logits(model)
            with active(model, None):
                assert torch.equal(logits(model), plain)
            assert current(model) == "two"
        assert torch.equal(logits(model), first)
    assert torch.equal(logits(model), plain)
    assert min((a - b).abs().max() for a, b in [(first, second), (first, plain), (second, plain)]) > 0.01


def test_an_error_within_switches_back():
    model = with_two()
    with pytest.raises(ZeroDivisionError), active(model, "one"):
        raise ZeroDivisionError
    assert current(model) is None


def test_a_new_adapter_changes_nothing_and_is_drawn_by_its_seed(tiny):
    plain, random = logits(tiny), torch.random.get_rng_state()
    add_adapter(tiny, "new", rank=2, alpha=4, seed=3)
    assert torch.equal(torch.random.get_rng_state(), random)
    with active(tiny, "new"):
        assert torch.equal(logits(tiny), plain)
    drawn = []
    for seed in (3, 3, 4):
        other = load("tiny")
        add_adapter(other, "new", rank=2, alpha=4, seed=seed)
        drawn.append(adapter_parameters(other, "new")[0])
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_gradients_reach_the_active_adapter_only():
    model = with_two()
    with active(model, "one"):
        model.model(torch.tensor([model.encode("PASS")])).logits.sum().backward()
    assert all(weight.grad is not None for weight in adapter_parameters(model, "one"))
    assert all(weight.grad is None and weight.requires_grad for weight in adapter_parameters(model, "two"))
    adapters = sum(weight.numel() for name in ("one", "two") for weight in adapter_parameters(model, name))
    assert sum(weight.numel() for weight in model.model.parameters() if weight.requires_grad) == adapters


def test_rows_of_one_batch_may_have_an_adapter_each():
    model, plain = with_two(), logits(load("tiny"))
    with active(model, "one"):
        first = logits(model)
    tokens = torch.tensor([model.encode("Your card: Q.\nIt is your turn.")] * 2)
    with active(model, "two"), torch.no_grad():
        rows = model.model(tokens, adapter_names=["one", "__base__"]).logits
    torch.testing.assert_close(rows[0], first, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(rows[1], plain, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", BUILT_IN)
def test_a_saved_adapter_comes_back(kind, tmp_path):
    model = with_two(kind)
    save_adapter(model, "two", tmp_path / "saved")
    again = load(f"{kind}+adapter:q={tmp_path / 'saved'}+adapter:{tmp_path / 'saved'}")
    assert adapter_names(again) == ["q", "saved"]
    with active(model, "two"), active(again, "q"):
        assert torch.equal(logits(model), logits(again))
    assert not any(weight.requires_grad for weight in again.model.parameters())


def test_peft_reads_what_is_saved(tmp_path, tiny):
    from peft import PeftModel

    model = with_two()
    save_adapter(model, "one", tmp_path / "saved")
    theirs = PeftModel.from_pretrained(tiny.model, tmp_path / "saved")
    tokens = torch.tensor([tiny.encode("PASS")])
    with active(model, "one"), torch.no_grad():
        assert torch.equal(theirs(tokens).logits, model.model(tokens).logits)


def test_the_configuration_of_an_adapter_has_no_folder_and_one_order(tmp_path, tiny):
    add_adapter(tiny, "one", rank=2, alpha=4)
    save_adapter(tiny, "one", tmp_path / "one")
    written = json.loads((tmp_path / "one" / "adapter_config.json").read_text())
    assert written["base_model_name_or_path"] is None
    assert written["target_modules"] == sorted(written["target_modules"])
    assert len(written["target_modules"]) > 4, "few would be in order by chance"


def test_an_adapter_that_peft_saved_is_read(tmp_path, tiny):
    model = with_two()
    model.model.save_pretrained(tmp_path, selected_adapters=["one"])
    load_adapter(tiny, tmp_path / "one", "theirs", trainable=True)
    with active(model, "one"), active(tiny, "theirs"):
        assert torch.equal(logits(model), logits(tiny))
    assert all(weight.requires_grad for weight in adapter_parameters(tiny, "theirs"))


def test_only_the_layers_that_are_asked_for(tiny):
    add_adapter(tiny, "few", rank=2, alpha=4, targets=["q_proj", "v_proj"])
    assert len(adapter_parameters(tiny, "few")) == 2 * 2 * tiny.model.config.num_hidden_layers


def refused(model, path, name="x"):
    with pytest.raises(StratagemError) as caught:
        load_adapter(model, path, name)
    assert "\n" not in str(caught.value)
    assert name not in adapter_names(model)
    return str(caught.value)


@pytest.fixture
def saved(tmp_path):
    save_adapter(with_two(), "one", tmp_path / "saved")
    return tmp_path / "saved"


def test_an_adapter_of_another_base_is_refused(saved):
    assert "was trained on tiny (" in refused(load("tiny-qwen"), saved)
    (saved / "base.json").unlink()
    assert "another base than tiny-gemma" in refused(load("tiny-gemma"), saved)


def test_a_pickled_adapter_is_refused(saved, tiny):
    (saved / "adapter_model.safetensors").rename(saved / "adapter_model.bin")
    assert "never loaded" in refused(tiny, saved)


def test_a_torn_adapter_is_refused(saved, tiny):
    weights = saved / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    assert "torn" in refused(tiny, saved)


def test_a_configuration_that_does_not_fit_the_weights_is_refused(saved, tiny):
    config = json.loads((saved / "adapter_config.json").read_text())
    for change, says in [
        ({"r": 5}, "does not fit"),
        ({"use_dora": True}, "plain LoRA"),
        ({"peft_type": "IA3"}, "LoRA"),
    ]:
        (saved / "adapter_config.json").write_text(json.dumps(config | change))
        assert says in refused(tiny, saved)


def test_an_adapter_that_is_not_there(tmp_path, tiny):
    assert "no folder" in refused(tiny, tmp_path / "nowhere")
    assert "no weights" in refused(tiny, tmp_path)


def test_names_are_checked(saved):
    model = with_two()
    with pytest.raises(UnknownName, match=r"one.*two|did you mean"), active(model, "oen"):
        pass
    with pytest.raises(StratagemError, match="already"):
        add_adapter(model, "one", rank=2, alpha=4)
    with pytest.raises(StratagemError, match="cannot be called"):
        add_adapter(model, "a.b", rank=2, alpha=4)
    with pytest.raises(UnknownName, match="q_proj"):
        add_adapter(model, "new", rank=2, alpha=4, targets=["q_prj"])
    with pytest.raises(StratagemError, match="already"):
        save_adapter(model, "one", saved)
    with pytest.raises(StratagemError, match="at least 1"):
        add_adapter(model, "new", rank=0, alpha=4)


def test_a_name_that_is_part_of_layers_names_is_only_a_name(tmp_path):
    model = with_two()
    add_adapter(model, "layers", rank=2, alpha=4)
    assert len(adapter_parameters(model, "layers")) == len(adapter_parameters(model, "one"))
    save_adapter(model, "layers", tmp_path / "saved")
    load_adapter(load("tiny"), tmp_path / "saved", "mlp")
