"""Weights are held against the manifest wherever they are loaded; numbers that no training leaves are refused."""

import random
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.manifest import check_within, write_manifest
from stratagem.base.settings import Settings
from stratagem.language.engines.open import engine_for
from stratagem.language.models.adapters import add_adapter, load_adapter, save_adapter
from stratagem.language.models.load import load
from stratagem.language.models.merging import write_model
from stratagem.language.models.reference import BadModel
from stratagem.training.runs.checkpoint import save_checkpoint
from stratagem.training.runs.files import new_folder
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.weights import with_manifest, writes_adapters, writes_model

ADAPTER = "checkpoints/step-000001/adapters/policy"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run with a base of its own and a checkpoint with an adapter."""
    run = RunFolder.create(tmp_path_factory.mktemp("runs") / "run", Settings(), 0, "a test")
    lm = load("tiny")
    new_folder(run.path / "base", with_manifest(writes_model(lm)))
    add_adapter(lm, "policy", 2, 4.0, ["q_proj"])
    save_checkpoint(run, 1, {}, write=writes_adapters(lm))
    return run.path


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


def flip(path, dice):
    data = path.read_bytes()
    place, bit = dice.randrange(len(data)), dice.randrange(8)
    path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])


def test_what_is_as_it_was_written_is_loaded(run):
    load(f"dir:{run / 'base/model'}+adapter:{run / ADAPTER}")
    assert engine_for(f"dir:{run / 'base/model'}+adapter:{run / ADAPTER}").adapter.startswith("policy-")


@pytest.mark.parametrize("seed", range(12))
def test_one_other_bit_in_the_weights_of_a_run_is_refused(seed, run):
    dice = random.Random(seed)
    flip(run / ADAPTER / "adapter_model.safetensors", dice)
    flip(run / "base/model/model.safetensors", dice)
    with pytest.raises(StratagemError, match=r"is not as it was written|is torn"):
        load(f"dir:{run / 'base/model'}")
    with pytest.raises(StratagemError, match=r"is not as it was written|is torn"):
        load_adapter(load("tiny"), run / ADAPTER, "policy")
    with pytest.raises(StratagemError, match=r"is not as it was written|is torn"):
        engine_for(f"tiny+adapter:{run / ADAPTER}")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_what_stands_beside_weights_counts_too(name, run):
    path = run / "base/model" / name
    path.write_text(path.read_text().rstrip() + "\n ")
    with pytest.raises(BadRecord, match=rf"base is not whole: model/{name} is not as it was written"):
        load(f"dir:{run / 'base/model'}")


def test_weights_that_nobody_wrote_are_refused(run):
    save_file({"more": torch.zeros(2)}, run / "base/model/more.safetensors")
    with pytest.raises(BadRecord, match=r"manifest\.json does not name model/more\.safetensors"):
        load(f"dir:{run / 'base/model'}")


def test_a_manifest_leads_to_no_other_folder(tmp_path):
    folder = tmp_path / "step" / "adapters" / "policy"
    folder.mkdir(parents=True)
    (folder / "x").write_text("1")
    (tmp_path / "step" / "adapters" / "policy-2").mkdir()
    (tmp_path / "step" / "adapters" / "policy-2" / "x").write_text("1")
    write_manifest(tmp_path / "step")
    check_within(folder)
    (tmp_path / "step" / "adapters" / "policy-2" / "x").write_text("2")
    check_within(folder)
    with pytest.raises(BadRecord):
        check_within(folder.parent / "policy-2")


@pytest.mark.parametrize("text", ['{"files": ["a.js"]}', "{", "[]", '{"name": "an app"}'])
def test_manifests_of_other_programs_say_nothing(text, tmp_path):
    write_folder(tmp_path / "model")
    (tmp_path / "manifest.json").write_text(text)
    loaded, made = (one.model.state_dict() for one in (load(f"dir:{tmp_path / 'model'}"), load("tiny")))
    assert all(torch.equal(loaded[name], weight) for name, weight in made.items())


def write_folder(folder):
    folder.mkdir()
    write_model(load("tiny"), folder)
    return folder


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_base_with_numbers_that_are_not_finite_is_refused(number, tmp_path):
    folder = write_folder(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    name = "model.layers.1.mlp.up_proj.weight"
    weights[name][3, 2] = number
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadModel, match=rf"holds numbers in {name} that are not finite"):
        load(f"dir:{folder}")


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.bool, torch.float8_e4m3fn])
def test_an_adapter_of_whole_numbers_is_refused(dtype, tmp_path):
    lm = load("tiny")
    add_adapter(lm, "policy", 2, 4.0, ["q_proj"])
    save_adapter(lm, "policy", tmp_path / "policy")
    path = tmp_path / "policy" / "adapter_model.safetensors"
    save_file({name: weight.to(dtype) for name, weight in load_file(path).items()}, path)
    with pytest.raises(BadModel, match=r"as torch\..*: save it as one of float32, bfloat16, float16, float64"):
        load_adapter(load("tiny"), tmp_path / "policy", "policy")
