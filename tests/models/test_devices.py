"""Device of a model: which one is taken, and when Apple's GPU is not."""

import pytest
import torch

from stratagem.language.models.devices import VARIABLE, find_device, place, usual_dtype
from stratagem.language.models.load import load
from stratagem.language.models.reference import BadModel


class Layer(torch.nn.Module):
    """Model of one number, whose logits on any device but the processor deviate."""

    def __init__(self, deviation):
        super().__init__()
        self.weight, self.deviation, self.moves = torch.nn.Parameter(torch.ones(1)), deviation, []

    def to(self, device):
        self.moves.append(device)
        return self

    def forward(self, input_ids):
        logits = input_ids[..., None] * self.weight
        return type("Output", (), {"logits": logits + (self.deviation if self.moves else 0.0)})


@pytest.fixture
def machine(monkeypatch):
    """Set which GPUs this machine has."""
    monkeypatch.delenv(VARIABLE, raising=False)

    def have(*, cuda=False, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return have


@pytest.mark.parametrize(
    ("there", "device"),
    [({}, "cpu"), ({"mps": True}, "mps"), ({"cuda": True}, "cuda"), ({"cuda": True, "mps": True}, "cuda")],
)
def test_a_gpu_is_taken_where_there_is_one(machine, there, device):
    machine(**there)
    assert find_device() == device


def test_the_variable_names_another_device(machine, monkeypatch):
    machine(mps=True)
    monkeypatch.setenv(VARIABLE, "cpu")
    assert find_device() == "cpu"
    monkeypatch.setenv(VARIABLE, "cuda:1")
    with pytest.raises(BadModel, match=r"STRATAGEM_DEVICE is 'cuda:1', and this machine has mps, cpu\."):
        find_device()


def test_numbers_on_apples_gpu_are_fp32(tmp_path):
    (tmp_path / "config.json").write_text('{"dtype": "bfloat16"}')
    assert usual_dtype(tmp_path, "mps") == usual_dtype(tmp_path, "cpu") == "fp32"


@pytest.mark.parametrize("deviation", [0.0, 9e-4])
def test_a_model_that_agrees_with_the_processor_stays_on_apples_gpu(deviation):
    model = Layer(deviation)
    assert (place(model, "mps"), model.moves) == ("mps", ["mps"])


@pytest.mark.parametrize("deviation", [2e-3, float("nan")])
def test_a_model_that_deviates_goes_back_to_the_processor(deviation):
    model = Layer(deviation)
    with pytest.warns(UserWarning, match="The model stays on the processor: on mps a logit deviates"):
        assert place(model, "mps") == "cpu"
    assert model.moves == ["mps", "cpu"]


def test_another_device_is_not_compared():
    model = Layer(1.0)
    assert (place(model, "cuda:1"), model.moves) == ("cuda:1", ["cuda:1"])


def test_a_loaded_model_says_where_it_is(machine, monkeypatch):
    machine()
    monkeypatch.setenv(VARIABLE, "cpu")
    assert load("tiny").device == "cpu"
