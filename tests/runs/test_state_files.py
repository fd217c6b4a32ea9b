"""A state on disk: what is read is bit-identical to what was written, and nothing that runs code is written."""

import json
import math
import struct

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stratagem.base.errors import BadRecord
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.training.runs.state_files import PLACES, TENSORS, load_state, save_state

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.bool]
DTYPES += [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]


def bits(value):
    """A value such that two are equal only if the states are bit-identical and of the same types."""
    if isinstance(value, torch.Tensor):
        flat = value.detach().contiguous().reshape(-1)
        raw = bytes(flat.view(torch.uint8).tolist()) if flat.numel() else b""
        return ("tensor", str(value.dtype), tuple(value.shape), raw)
    if isinstance(value, dict):
        return ("dict", [(bits(key), bits(item)) for key, item in value.items()])
    if isinstance(value, list | tuple):
        return (type(value).__name__, [bits(item) for item in value])
    return (type(value).__name__, struct.pack(">d", value) if isinstance(value, float) else value)


@st.composite
def tensors(draw):
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    size = math.prod(shape) * dtype.itemsize
    raw = draw(st.binary(min_size=size, max_size=size))
    if dtype == torch.bool:
        raw = bytes(byte % 2 for byte in raw)
    flat = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)
    return flat.reshape(shape)


KEYS = st.text(max_size=3) | st.sampled_from(["tensor", "tuple", "float", "dict"])
ANY_KEYS = KEYS | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | tensors()
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=2)
        | st.dictionaries(ANY_KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(tree=TREES)
def test_what_is_read_is_what_was_written(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    save_state(tree, folder)
    assert bits(load_state(folder)) == bits(tree)
    assert {path.name for path in folder.iterdir()} == {PLACES, TENSORS}


@pytest.mark.parametrize(
    "number",
    [math.nan, -math.nan, math.inf, -math.inf, -0.0, 5e-324, 0.1, 1e22, struct.unpack(">d", b"\x7f\xf8" * 4)[0]],
)
def test_numbers_keep_their_bits(number, tmp_path):
    save_state([number], tmp_path)
    assert bits(load_state(tmp_path)) == bits([number])
    json.loads((tmp_path / PLACES).read_text(), parse_constant=pytest.fail)  # no NaN, which is not JSON


def test_tensors_that_share_memory(tmp_path):
    whole = torch.arange(12.0).reshape(3, 4)
    tree = {"whole": whole, "again": whole, "row": whole[1], "turned": whole.T, "parameter": torch.nn.Parameter(whole)}
    save_state(tree, tmp_path)
    read = load_state(tmp_path)
    assert bits(read) == bits(tree)
    assert read["whole"] is read["again"]
    read["whole"].zero_()
    assert read["row"].tolist() == [4.0, 5.0, 6.0, 7.0]


def test_a_view_that_only_looks_conjugate(tmp_path):
    save_state(torch.tensor([1 + 2j]).conj(), tmp_path)
    assert load_state(tmp_path).tolist() == [1 - 2j]


def test_what_is_read_outlives_its_file(tmp_path):
    save_state(torch.ones(100_000), tmp_path)
    read = load_state(tmp_path)
    with (tmp_path / TENSORS).open("r+b") as file:
        file.write(bytes((tmp_path / TENSORS).stat().st_size))
    assert read.sum() == 100_000


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"a": [1, {2}]}, r"the state\['a'\]\[1\] is a set: a state holds"),
        ({"a": {(1, 2): 3}}, r"the state\['a'\] has a tuple for a key"),
        (torch.Size([1]), "the state is a Size"),
    ],
)
def test_what_has_no_place_is_named(tree, said, tmp_path):
    with pytest.raises(TypeError, match=said):
        save_state(tree, tmp_path)


@pytest.mark.parametrize("name", [PLACES, TENSORS])
@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"\x80\x04]."])
def test_torn_files_are_named(name, spoil, tmp_path):
    save_state({"a": torch.ones(3), "b": (1, 2)}, tmp_path)
    (tmp_path / name).write_bytes(spoil((tmp_path / name).read_bytes()))
    with pytest.raises(BadRecord, match="has no complete state"):
        load_state(tmp_path)


@pytest.mark.parametrize(
    "places", ['{"tensor": 9}', '{"float": 3}', '{"float": "00"}', '{"dict": [[[1], 2]]}', '{"tuple": 1}']
)
def test_places_that_cannot_be_are_named(places, tmp_path):
    save_state([], tmp_path)
    (tmp_path / PLACES).write_text(places)
    with pytest.raises(BadRecord, match="has no complete state"):
        load_state(tmp_path)


def learning(steps=6):
    """A small model with dropout, and its optimizer."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
    return model, Optimizer(
        model.parameters(), OptimizerSettings(learning_rate=0.01, schedule="cosine", weight_decay=0.1), steps
    )


def steps(model, optimizer, count):
    for _ in range(count):
        model(torch.randn(4, 3)).square().sum().backward()
        optimizer.step()


def test_an_optimizer_goes_on_as_if_it_had_never_stopped(tmp_path):
    model, optimizer = learning()
    steps(model, optimizer, 3)
    state = {"model": model.state_dict(), "optimizer": optimizer.state(), "random": torch.get_rng_state()}
    save_state(state, tmp_path)
    steps(model, optimizer, 3)
    again, resumed = learning()
    read = load_state(tmp_path)
    again.load_state_dict(read["model"])
    resumed.restore(read["optimizer"])
    torch.set_rng_state(read["random"])
    steps(again, resumed, 3)
    assert bits(again.state_dict()) == bits(model.state_dict())
    assert bits(resumed.state()) == bits(optimizer.state())
