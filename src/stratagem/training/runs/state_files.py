"""A state as bit-identical files: dicts, lists, tuples, texts, numbers and tensors; never a pickle, which can run code.

The tensors are one safetensors file; all else is one JSON file that says which tensor stands where. A dict whose keys
are texts is an object there; whatever JSON has no word for is an object of one key: `{"tensor": 3}`,
`{"tuple": [...]}`, `{"float": "7ff8..."}`, and `{"dict": [[key, value], ...]}` where keys are numbers or could be
mistaken for these.
"""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small

PLACES, TENSORS = "state.json", "state.safetensors"
_WORDS = ("tensor", "tuple", "float", "dict")
_PLAIN = (type(None), bool, int, str)


def save_state(tree: Any, folder: Path) -> None:
    """Write a state into a folder."""
    from safetensors.torch import save_file

    packer = _Packer()
    places = packer.pack_value(tree, "the state")
    save_file({str(number): tensor for number, tensor in enumerate(packer.tensors)}, folder / TENSORS)
    (folder / PLACES).write_text(json.dumps(places, allow_nan=False) + "\n", encoding="utf-8")


def load_state(folder: Path) -> Any:
    """Load the state in a folder; its tensors are on the CPU."""
    from safetensors import SafetensorError, safe_open

    try:
        places = parse_json(read_small(folder / PLACES))
        with safe_open(folder / TENSORS, "pt") as file:
            # cloned, since a tensor that is still part of a file would change with it
            tensors = {int(name): file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - no mapping
        return _unpack_value(places, tensors)
    except (OSError, ValueError, KeyError, TypeError, struct.error, SafetensorError) as error:
        raise BadRecord(f"{folder} has no complete state: {error}.") from error


class _Packer:
    """Collector of the tensors of a state; one that occurs several times is written once."""

    def __init__(self) -> None:
        self.tensors: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._storages: set[int] = set()

    def pack_value(self, value: Any, path: str) -> Any:
        """Return the state without its tensors, as JSON."""
        import torch

        if type(value) in _PLAIN:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}
        if isinstance(value, torch.Tensor):
            return {"tensor": self._number(value)}
        if isinstance(value, dict):
            return self._dict(value, path)
        if type(value) in (list, tuple):
            items = [self.pack_value(item, f"{path}[{number}]") for number, item in enumerate(value)]
            return items if type(value) is list else {"tuple": items}
        raise TypeError(f"{path} is a {type(value).__name__}: a state holds dicts, lists, texts, numbers and tensors")

    def _dict(self, value: dict[Any, Any], path: str) -> Any:
        for key in value:
            if type(key) not in (*_PLAIN, float):
                raise TypeError(f"{path} has a {type(key).__name__} for a key: keys are texts and numbers")
        items = [(key, self.pack_value(item, f"{path}[{key!r}]")) for key, item in value.items()]
        mistakable = len(value) == 1 and next(iter(value)) in _WORDS
        if mistakable or not all(type(key) is str for key in value):
            return {"dict": [[self.pack_value(key, path), item] for key, item in items]}
        return dict(items)

    def _number(self, tensor: Any) -> int:
        """Return the number of a tensor; one that shares memory with another is copied, which safetensors asks for."""
        if id(tensor) not in self._numbers:
            own = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
            storage = own.untyped_storage().data_ptr()
            self.tensors.append(own.clone() if storage in self._storages else own)
            self._storages.add(storage)
            self._numbers[id(tensor)] = len(self.tensors) - 1
        return self._numbers[id(tensor)]


def _unpack_value(value: Any, tensors: dict[int, Any]) -> Any:
    if isinstance(value, list):
        return [_unpack_value(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    word = next(iter(value), None)
    if len(value) != 1 or word not in _WORDS:
        return {key: _unpack_value(item, tensors) for key, item in value.items()}
    inner = value[word]
    if word == "tensor":
        return tensors[inner]
    if word == "float":
        return struct.unpack(">d", bytes.fromhex(inner))[0]
    items = _unpack_value(inner, tensors)
    return tuple(items) if word == "tuple" else dict(items)
