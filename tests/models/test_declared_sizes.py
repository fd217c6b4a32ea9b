"""Folders of models that declare more than they hold."""

import json
import struct

import pytest

from stratagem.language.models.folder import check_folder
from stratagem.language.models.load import load
from stratagem.language.models.merging import write_model
from stratagem.language.models.reference import BadModel


@pytest.fixture
def folder(tmp_path):
    """The folder of a small model."""
    write_model(load("tiny"), tmp_path / "model")
    return tmp_path / "model"


def changed(path, change):
    """Change the data of a JSON file."""
    data = json.loads(path.read_text("utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def test_model_with_more_layers_than_tensors_is_refused(folder):
    assert check_folder(folder) == folder
    changed(folder / "config.json", lambda data: data.update(num_hidden_layers=10**6))
    with pytest.raises(BadModel, match="declares num_hidden_layers=1,000,000 and holds"):
        load(f"dir:{folder}")


def test_tokenizer_that_pads_without_end_is_refused(folder):
    padding = {"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
               "pad_type_id": 0, "pad_token": "x"}  # fmt: skip
    changed(folder / "tokenizer.json", lambda data: data.update(padding=padding))
    with pytest.raises(BadModel, match="pads each text to 1,000,000,000 tokens"):
        load(f"dir:{folder}")


@pytest.mark.parametrize("length", [1 << 60, 1 << 27])
def test_weights_that_declare_a_huge_header_are_refused(folder, length):
    file = next(folder.glob("*.safetensors"))
    file.write_bytes(struct.pack("<Q", length) + file.read_bytes()[8:])
    with pytest.raises(BadModel, match="torn or no safetensors"):
        load(f"dir:{folder}")
