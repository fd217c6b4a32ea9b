"""Loaded models, their number formats, and refusals."""

import json
import shutil

import pytest
import torch
from spoken import logits

from stratagem.base.errors import MissingExtra, StratagemError
from stratagem.language.models import load as loading
from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.devices import usual_dtype
from stratagem.language.models.load import load
from stratagem.language.models.tiny import tiny_folder


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(tiny_folder("tiny"), tmp_path / "model")


def refused(text):
    with pytest.raises(StratagemError) as caught:
        load(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_is_the_model_that_was_saved_there(folder, tiny):
    again = load(f"dir:{folder}")
    assert torch.equal(logits(again), logits(tiny))
    assert again.fingerprint == tiny.fingerprint
    assert not any(parameter.requires_grad for parameter in again.model.parameters())


def test_other_weights_have_another_fingerprint(folder, tiny):
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-5] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    assert load(f"dir:{folder}").fingerprint != tiny.fingerprint


@pytest.mark.parametrize(("said", "dtype"), [("bf16", torch.bfloat16), ("fp32", torch.float32)])
def test_the_numbers_are_what_was_asked_for(said, dtype):
    assert load(f"tiny+dtype={said}").model.dtype == dtype
    assert load("tiny", dtype=said).model.dtype == dtype


def saved_in(folder, **said):
    config = json.loads((folder / "config.json").read_text()) | {"dtype": None} | said
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("device", "said", "dtype"),
    [
        ("cpu", {"dtype": "bfloat16"}, "fp32"),
        ("cpu", {"dtype": "float32"}, "fp32"),
        ("cuda", {"dtype": "bfloat16"}, "bf16"),
        ("cuda:1", {"dtype": "float16"}, "bf16"),
        ("cuda", {"dtype": "float32"}, "fp32"),
        ("cuda", {"torch_dtype": "float32"}, "fp32"),
        ("cuda", {}, "bf16"),
    ],
)
def test_no_processor_chooses_the_numbers(folder, monkeypatch, device, said, dtype):
    """The same figures on every processor; a GPU halves only what was not saved whole."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True, "amx_bf16": True})
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    assert usual_dtype(saved_in(folder, **said), device) == dtype


def test_a_gpu_without_bf16_takes_fp32(folder, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    assert usual_dtype(saved_in(folder, dtype="bfloat16"), "cuda") == "fp32"


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pth", "model.ckpt"])
def test_a_pickle_is_refused(folder, name, monkeypatch):
    torch.save({}, folder / name)
    (folder / "model.safetensors").unlink()
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("a pickle was opened"))
    assert "never loaded" in refused(f"dir:{folder}")


def test_a_folder_that_is_no_model(folder, tmp_path):
    assert "no folder" in refused(f"dir:{tmp_path / 'nowhere'}")
    assert "config.json" in refused(f"dir:{tmp_path}")
    (folder / "tokenizer.json").unlink()
    assert "no tokenizer" in refused(f"dir:{folder}")


def test_torn_weights_are_refused(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    assert "torn" in refused(f"dir:{folder}")


def test_missing_weights_are_refused_and_not_drawn_at_random(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.2.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert "lacks 1 of its weights, among them model.layers.2.mlp.up_proj.weight" in refused(f"dir:{folder}")


def test_code_in_a_folder_is_never_run(folder):
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "homemade", "auto_map": {"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text("raise SystemExit('it ran')")
    assert "cannot be loaded" in refused(f"dir:{folder}")


def test_a_torn_configuration_is_refused(folder):
    (folder / "config.json").write_text("{")
    assert "cannot be read as JSON" in refused(f"dir:{folder}")


def test_what_is_not_in_the_cache_is_not_fetched_offline(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "not in the local cache" in refused("hf:nobody/nothing-at-all")


def test_a_server_has_no_weights():
    assert "behind a server" in refused("api:m@http://localhost/v1")


def test_four_bits_need_an_extra(monkeypatch):
    monkeypatch.setattr(loading, "find_spec", lambda name: None if name == "bitsandbytes" else name)
    with pytest.raises(MissingExtra, match="quantized"):
        load("tiny+4bit")


@pytest.mark.parametrize("template", ["", None])
def test_a_model_without_a_template_gets_the_texts(tiny, template):
    tiny.tokenizer.chat_template = template
    assert tiny.chat_text([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]) == "S\n\nU\n\n"


def test_a_template_without_system_gets_it_from_the_user(tiny):
    strict = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    tiny.tokenizer.chat_template = strict + "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}"
    assert tiny.chat_text([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]) == "[user]S\n\nU"


def test_a_model_that_sees_pictures_speaks_and_gets_adapters_where_it_speaks(tmp_path, tiny):
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    text = load("tiny-gemma").model.config.to_dict()
    vision = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = Gemma3Config(
        text_config=text, vision_config={**vision, "image_size": 28, "patch_size": 14}, mm_tokens_per_image=4
    )
    Gemma3ForConditionalGeneration(config).save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    model = load(f"dir:{tmp_path}")
    plain = logits(model)
    add_adapter(model, "x", 2, 4)
    names = [name for name, weight in model.model.named_parameters() if weight.requires_grad]
    assert names
    assert all("language_model" in name for name in names)
    for weight in adapter_parameters(model, "x"):
        torch.nn.init.normal_(weight, std=0.1)
    with active(model, "x"):
        assert (logits(model) - plain).abs().max() > 1e-3
