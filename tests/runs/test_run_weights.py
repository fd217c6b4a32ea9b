"""Trained weights in a checkpoint: bit-identical, into the weights that are there, and of use elsewhere."""

import pytest
import torch

from stratagem.base.errors import BadRecord, UnknownName
from stratagem.base.settings import Settings
from stratagem.language.models.adapters import active, adapter_names, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.language.models.reference import BadModel
from stratagem.training.runs.checkpoint import latest, save_checkpoint
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.weights import (
    combine_writers,
    restore_heads,
    restore_weights,
    writes_adapters,
    writes_heads,
    writes_model,
)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATAGEM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "run", Settings(), 1, "x")


def adapted(*names, rank=2, seed=0):
    lm = load("tiny")
    for name in names:
        add_adapter(lm, name, rank, 4.0, ["q_proj"], seed=seed)
    return lm


def shaken(parameters):
    """Fill weights with noise, and keep a copy of them."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in parameters:
            weight.copy_(torch.randn_like(weight))
    return [weight.detach().clone() for weight in parameters]


def logits(lm, adapter=None):
    with torch.no_grad(), active(lm, adapter):
        return lm.model(torch.tensor([[1, 2, 3]])).logits


def equal(ones, others):
    return all(torch.equal(one, other) for one, other in zip(ones, others, strict=True))


def test_adapters_are_restored_in_place(run):
    lm = adapted("seat-0", "seat-1")
    kept = {name: shaken(adapter_parameters(lm, name)) for name in adapter_names(lm)}
    save_checkpoint(run, 1, {}, write=writes_adapters(lm))
    fresh = adapted("seat-0", "seat-1", seed=5)
    weights = {name: adapter_parameters(fresh, name) for name in kept}
    assert not equal(weights["seat-0"], kept["seat-0"])
    restore_weights(fresh, latest(run).folder)
    for name, before in kept.items():
        assert equal(weights[name], before)
        assert all(weight.requires_grad for weight in weights[name])
    assert torch.equal(logits(fresh, "seat-1"), logits(lm, "seat-1"))


def test_an_adapter_of_a_checkpoint_can_be_loaded_elsewhere(run):
    lm = adapted("policy", "other")
    shaken(adapter_parameters(lm, "policy"))
    folder = save_checkpoint(run, 1, {}, write=writes_adapters(lm, ["policy"])).folder / "adapters"
    assert [path.name for path in folder.iterdir()] == ["policy"]
    elsewhere = load(f"tiny+adapter:mine={folder / 'policy'}")
    assert torch.equal(logits(elsewhere, "mine"), logits(lm, "policy"))


@pytest.mark.parametrize("rank", [1, 3])
def test_adapters_of_another_kind_are_refused_and_nothing_is_changed(rank, run):
    lm = adapted("policy")
    save_checkpoint(run, 1, {}, write=writes_adapters(lm))
    other = adapted("policy", rank=rank)
    before = shaken(adapter_parameters(other, "policy"))
    with pytest.raises(BadRecord, match="do not fit this model"):
        restore_weights(other, latest(run).folder)
    assert equal(adapter_parameters(other, "policy"), before)


def test_an_adapter_that_the_model_lacks_is_named(run):
    save_checkpoint(run, 1, {}, write=writes_adapters(adapted("policy")))
    with pytest.raises(UnknownName, match="no adapter called 'policy'"):
        restore_weights(adapted("other"), latest(run).folder)


@pytest.mark.parametrize("name", ["tiny", "tiny-gemma"])
def test_a_whole_model_is_restored_in_place_and_can_be_loaded_elsewhere(name, run):
    lm = load(name)
    kept = shaken(list(lm.model.parameters()))
    folder = save_checkpoint(run, 1, {}, write=writes_model(lm)).folder
    fresh = load(name)
    weights = list(fresh.model.parameters())
    assert not equal(weights, kept)
    restore_weights(fresh, folder)
    assert equal(weights, kept)
    assert torch.equal(logits(fresh), logits(lm))
    assert torch.equal(logits(load(f"dir:{folder / 'model'}")), logits(lm))


def test_weights_of_another_type_are_refused(run):
    save_checkpoint(run, 1, {}, write=writes_model(load("tiny", dtype="bf16")))
    with pytest.raises(BadRecord, match="do not fit this model"):
        restore_weights(load("tiny"), latest(run).folder)


def test_a_whole_model_with_adapters_is_refused():
    with pytest.raises(BadModel, match=r"has the adapters one, two: save those"):
        writes_model(adapted("one", "two"))


def test_heads_are_restored_in_place_beside_adapters_each_by_its_name(run):
    lm, heads = adapted("seat-0"), {"seat-0": torch.nn.Linear(3, 1), "seat-1": torch.nn.Linear(5, 1)}
    kept = {name: shaken(list(head.parameters())) for name, head in heads.items()}
    folder = save_checkpoint(run, 1, {}, write=combine_writers(writes_adapters(lm), writes_heads(heads))).folder
    fresh = {name: torch.nn.Linear(head.in_features, 1) for name, head in heads.items()}
    restore_heads(fresh, folder)
    restore_weights(adapted("seat-0", seed=5), folder)
    for name, head in fresh.items():
        assert equal(list(head.parameters()), kept[name])


def test_heads_that_do_not_fit_are_refused(run):
    folder = save_checkpoint(run, 1, {}, write=writes_heads({"one": torch.nn.Linear(3, 1)})).folder
    with pytest.raises(BadRecord, match="has no head 'two'"):
        restore_heads({"two": torch.nn.Linear(3, 1)}, folder)
    with pytest.raises(BadRecord, match="do not fit this model"):
        restore_heads({"one": torch.nn.Linear(4, 1)}, folder)
