"""Copies of models in workers: the text that loads the base, and the weights under training as files.

A worker keeps its copies, and reads weights again only if they have changed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

from stratagem.base.errors import CannotCompute
from stratagem.language.engines.base import TrainableEngine
from stratagem.language.models.adapter_files import read_weights
from stratagem.language.models.adapters import (
    adapter_names,
    adapter_parameters,
    adapter_weights,
    drop_adapter,
    load_adapter,
    save_adapter,
)
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.merging import WEIGHTS, base_weights, write_base
from stratagem.language.models.reference import BadModel
from stratagem.playing.workers.base import Parcel
from stratagem.playing.workers.plan import WorkersPlan


def write_weights(model: LanguageModel, adapter: str, folder: Path) -> None:
    """Write an adapter (empty: all weights of the base) into a new folder."""
    if adapter:
        return save_adapter(model, adapter, folder)
    folder.mkdir()
    return write_base(model, folder)


def take_weights(model: LanguageModel, adapter: str, folder: Path) -> None:
    """Take over the weights of a folder; an adapter that the model lacks is added."""
    from safetensors.torch import load_file

    if not adapter:
        return _fill(base_weights(model), load_file(folder / WEIGHTS), folder)
    if adapter not in adapter_names(model):
        return load_adapter(model, folder, adapter)
    return _fill(adapter_weights(model, adapter), read_weights(folder), folder)


def weights_of(model: LanguageModel, adapter: str) -> list[Any]:
    """Return the parameters of an adapter (empty: of the base) that can be trained."""
    if adapter:
        return adapter_parameters(model, adapter)
    base = model.model.get_base_model() if adapter_names(model) else model.model
    return [weight for name, weight in base.named_parameters() if weight.is_floating_point() and ".lora_" not in name]


def _fill(own: dict[str, Any], weights: dict[str, Any], folder: Path) -> None:
    import torch

    if {name: weight.shape for name, weight in own.items()} != {name: w.shape for name, w in weights.items()}:
        raise BadModel(f"The weights in {folder} do not fit this copy of the model.")
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(weights[name])


_numbers = count(1)
_numbered: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
_KEPT = 16
"""Number of adapters that a copy keeps beside those in use; the least recently used are dropped."""


@dataclass(frozen=True)
class CarriedWeights:
    """Present weights of an adapter (empty name: of the base)."""

    adapter: str
    is_trained: bool
    """True if they require gradients; torch multiplies by such weights in another order of additions."""
    digest: str = ""
    """Digest of the files; empty where the weights are those that the text loads."""
    parcel: Parcel | None = None


@dataclass(frozen=True)
class CarriedModel:
    """Description of a model, from which a worker makes a copy."""

    number: int
    """Number of the model in the process that it comes from."""
    source: str
    """Text that loads the base."""
    name: str
    dtype: str
    device: str
    """Device in the process that it comes from."""
    weights: tuple[CarriedWeights, ...]


class ModelCarrier:
    """Sender of models; within its context the weights of an adapter are written once."""

    def __init__(self, plan: WorkersPlan, *, sends_gathered: bool = False) -> None:
        """`sends_gathered` sends weights, too, that the copies are noted to have: they have changed since."""
        self.plan = plan
        self._sends_gathered = sends_gathered
        self._weights: dict[tuple[int, str], CarriedWeights] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for weights in self._weights.values():
            if weights.parcel is not None:
                weights.parcel.drop()

    def model(self, lm: LanguageModel, adapters: Iterable[str], *, is_base_trained: bool) -> CarriedModel:
        """Describe a model with the present weights of some adapters, and of the base if it is trained."""
        if not lm.source:
            raise CannotCompute(f"The model {lm.name} cannot be loaded by a text: leave `workers=` out.")
        names = sorted({"", *adapters})
        weights = tuple(self._weights_of(lm, name, is_written=bool(name) or is_base_trained) for name in names)
        return CarriedModel(number_of(lm), lm.source, lm.name, lm.dtype, lm.device, weights)

    def _weights_of(self, lm: LanguageModel, adapter: str, *, is_written: bool) -> CarriedWeights:
        known = number_of(lm), adapter
        if known not in self._weights:
            files: tuple[str, Parcel | None] = ("", None)
            if is_written:
                gathered = not adapter and lm in _gathered and not self._sends_gathered
                files = (_gathered[lm], None) if gathered else self._write_model(lm, adapter)
            self._weights[known] = CarriedWeights(adapter, weights_of(lm, adapter)[0].requires_grad, *files)
        return self._weights[known]

    def _write_model(self, lm: LanguageModel, adapter: str) -> tuple[str, Parcel]:
        """Write weights, and return their digest and the parcel."""
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root) / "weights"
            write_weights(lm, adapter, folder)
            return _digest(folder), self.plan.workers.put(folder)


def number_of(item: object) -> int:
    """Return the number of a model or an engine in this process."""
    return _numbered.setdefault(item, next(_numbers))


_gathered: WeakKeyDictionary[LanguageModel, str] = WeakKeyDictionary()
"""Digest of the present weights of models whose copies in workers have them already."""


def note_gathered(lm: LanguageModel, digest: str) -> None:
    """Note that the copies of a model have its present weights, all of them, under this digest."""
    _gathered[lm] = digest


_shares_work = False


def work_at_home() -> None:
    """Do units of work in this process by its own models and engines, and not by copies of them."""
    global _shares_work
    _shares_work = True


def own_item(number: int) -> Any:
    """Return the model or the engine of a number that this process itself has, where it shares the work."""
    return next((item for item, own in _numbered.items() if own == number), None) if _shares_work else None


def _digest(folder: Path) -> str:
    digest = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


# --- in a worker


@dataclass
class ModelCopy:
    """Copy of a model in a worker."""

    lm: LanguageModel
    engine: TrainableEngine | None = None
    digests: dict[str, str] = field(default_factory=dict)
    """Digests of the weights by adapter; the most recently used is last."""
    unpublished: set[str] = field(default_factory=set)
    """Adapters whose weights have changed since they were published to the engine."""

    def take(self, weights: CarriedWeights) -> None:
        """Take over the weights of an adapter, if they have changed."""
        if weights.parcel is not None and self.digests.pop(weights.adapter, None) != weights.digest:
            with weights.parcel.unpack_files() as folder:
                take_weights(self.lm, weights.adapter, folder)
            self.unpublished.add(weights.adapter)
        self.digests[weights.adapter] = weights.digest
        for weight in weights_of(self.lm, weights.adapter):
            weight.requires_grad_(weights.is_trained)

    def drop_idle(self, used: Iterable[str]) -> None:
        """Drop the adapters that were not used for long."""
        idle = [name for name in self.digests if name and name not in {*used}]
        for name in idle[: max(0, len(idle) - _KEPT)]:
            if self.engine is not None:
                self.engine.drop_adapter(name)
            elif len(adapter_names(self.lm)) > 1:
                drop_adapter(self.lm, name)
            self.digests.pop(name)
            self.unpublished.discard(name)


_copies: dict[int, ModelCopy] = {}


def copy_of(carried: CarriedModel) -> ModelCopy:
    """Return this worker's copy of a model with its present weights; the model itself where this process has it."""
    from stratagem.language.models.devices import nearest_device
    from stratagem.language.models.load import load

    if (own := own_item(carried.number)) is not None:
        return ModelCopy(own)
    if carried.number not in _copies:
        lm = load(carried.source, dtype=carried.dtype, device=nearest_device(carried.device))
        lm.name = carried.name
        _copies[carried.number] = ModelCopy(lm)
    copy = _copies[carried.number]
    for weights in carried.weights:
        copy.take(weights)
    copy.drop_idle([weights.adapter for weights in carried.weights])
    return copy
