"""Setups of tables on their way to another process, where copies of their engines answer.

An engine does not travel. In its place goes a description, from which a worker opens a copy: the settings of the
engine, the text that loads the base, and the weights under training as files. A worker keeps its copies, and reads
weights again only if they have changed.
"""

from __future__ import annotations

import io
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from stratagem.engines.base import TrainableEngine
from stratagem.engines.caches import reset_caches
from stratagem.engines.open import is_opened, open_engine, served_by, serving, spec_of
from stratagem.engines.spec import TrainableEngineSpec
from stratagem.errors import CannotCompute
from stratagem.models.carried import take_weights, weights_of, write_weights
from stratagem.play.dispatch import RequestQueue
from stratagem.play.match import Setup
from stratagem.play.records import Episode
from stratagem.play.scheduler import play
from stratagem.players.speaker import Speaker
from stratagem.workers.base import Parcel
from stratagem.workers.plan import Plan
from stratagem.workers.threads import use_threads

_numbers = count(1)
_numbered: WeakKeyDictionary[TrainableEngine, int] = WeakKeyDictionary()


@dataclass(frozen=True)
class CarriedWeights:
    """Version of an adapter's weights (empty name: of the base)."""

    adapter: str
    version: int
    is_trained: bool
    """True if they require gradients; torch multiplies by such weights in another order of additions."""
    digest: str = ""
    """Digest of the files; empty where the weights are those that the text loads."""
    parcel: Parcel | None = None


@dataclass(frozen=True)
class CarriedEngine:
    """Description of an engine, from which a worker opens a copy."""

    number: int
    """Number of the engine in the process that it comes from."""
    spec: TrainableEngineSpec
    source: str
    """Text that loads the base."""
    name: str
    dtype: str
    weights: tuple[CarriedWeights, ...]


@dataclass(frozen=True)
class CarriedShard:
    """Shard of tables for a worker."""

    setups: bytes
    engines: tuple[CarriedEngine, ...]
    serving: TrainableEngineSpec
    """Engine of models that players name by a text."""
    num_threads: int


class Carrier:
    """Packer of shards; the weights of an engine are written once for all shards of a call."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._weights: dict[tuple[int, str], CarriedWeights] = {}

    def pack(self, setups: Sequence[Setup]) -> CarriedShard:
        """Pack a shard; refused where a player cannot be sent."""
        data = io.BytesIO()
        pickler = _Pickler(data)
        try:
            pickler.dump(tuple(setups))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise CannotCompute(
                f"A player or a game of {setups[0].match.text} cannot be sent to a worker: {error}; define it at the "
                "top level of a module, or leave `--workers` out."
            ) from error
        engines = tuple(self._carried(engine, names) for engine, names in pickler.engines.items())
        return CarriedShard(data.getvalue(), engines, serving(), self._plan.threads_per_worker)

    def _carried(self, engine: TrainableEngine, adapters: set[str]) -> CarriedEngine:
        if not engine.lm.source:
            raise CannotCompute(f"The model {engine.name} cannot be loaded by a text: leave `--workers` out.")
        weights = tuple(self._weights_of(engine, name) for name in sorted({"", *adapters}))
        return CarriedEngine(
            _number(engine), spec_of(engine), engine.lm.source, engine.lm.name, engine.lm.dtype, weights
        )

    def _weights_of(self, engine: TrainableEngine, adapter: str) -> CarriedWeights:
        known = _number(engine), adapter
        if known not in self._weights:
            version, is_trained = engine.version(adapter), weights_of(engine.lm, adapter)[0].requires_grad
            files = self._written(engine, adapter) if adapter or version else ("", None)
            self._weights[known] = CarriedWeights(adapter, version, is_trained, *files)
        return self._weights[known]

    def _written(self, engine: TrainableEngine, adapter: str) -> tuple[str, Parcel]:
        """Write weights, and return their digest and the parcel."""
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root) / "weights"
            write_weights(engine.lm, adapter, folder)
            return _digest(folder), self._plan.workers.put(folder)


class _Pickler(pickle.Pickler):
    """Pickler that replaces engines by their numbers, and collects them with the adapters that players use."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.engines: dict[TrainableEngine, set[str]] = {}

    def persistent_id(self, item: Any) -> int | None:
        if isinstance(item, Speaker):
            self.engines.setdefault(_trainable(item.engine), set()).add(item.adapter)
            return None
        return _number(item) if hasattr(type(item), "publish") and is_opened(item) else None


def _trainable(engine: Any) -> TrainableEngine:
    if not is_opened(engine):
        raise CannotCompute(f"The engine of {engine.name} cannot be copied to a worker: leave `--workers` out.")
    return engine  # type: ignore[no-any-return]


def _number(engine: TrainableEngine) -> int:
    return _numbered.setdefault(engine, next(_numbers))


def _digest(folder: Path) -> str:
    digest = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


# --- in a worker

_copies: dict[int, tuple[TrainableEngine, dict[str, str]]] = {}
"""Copies of engines by number, each with the digests of its weights by adapter."""


def play_shard(shard: CarriedShard) -> list[Episode]:
    """Play a shard in this process by copies of its engines, and return its episodes."""
    use_threads(shard.num_threads)
    engines = {engine.number: _copy(engine) for engine in shard.engines}
    with served_by(shard.serving):
        unpickler = _Unpickler(io.BytesIO(shard.setups), engines)
        return list(played_alone(unpickler.load()))


def played_alone(setups: Sequence[Setup], queue: RequestQueue | None = None) -> Iterator[Episode]:
    """Play one shard with engines that have computed nothing, and yield each episode when it is over."""
    reset_caches()
    yield from play(setups, queue, live=len(setups))


class _Unpickler(pickle.Unpickler):
    """Unpickler that puts copies of engines in the place of their numbers."""

    def __init__(self, file: io.BytesIO, engines: dict[int, TrainableEngine]) -> None:
        super().__init__(file)
        self._engines = engines

    def persistent_load(self, number: int) -> TrainableEngine:
        return self._engines[number]


def _copy(carried: CarriedEngine) -> TrainableEngine:
    """Return the copy of an engine with its present weights."""
    from stratagem.models.load import load

    if carried.number not in _copies:
        lm = load(carried.source, dtype=carried.dtype)
        lm.name = carried.name
        _copies[carried.number] = open_engine(lm, carried.spec), {}
    engine, digests = _copies[carried.number]
    for weights in carried.weights:
        if weights.parcel is not None and digests.get(weights.adapter) != weights.digest:
            with weights.parcel.unpacked() as folder:
                take_weights(engine.lm, weights.adapter, folder)
            digests[weights.adapter] = weights.digest
            engine.publish(weights.adapter, weights.version)
        elif engine.version(weights.adapter) != weights.version:
            engine.publish(weights.adapter, weights.version)
        for weight in weights_of(engine.lm, weights.adapter):
            weight.requires_grad_(weights.is_trained)
    return engine
