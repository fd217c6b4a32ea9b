"""Setups of tables on their way to a worker, where copies of their engines answer.

An engine does not travel. In its place goes a description, from which a worker opens a copy.
"""

from __future__ import annotations

import io
import os
import pickle
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.language.engines.base import TrainableEngine
from stratagem.language.engines.caches import reset_caches
from stratagem.language.engines.open import is_opened, open_engine, served_by, serving, spec_of
from stratagem.language.engines.spec import TrainableEngineSpec
from stratagem.players.speaker import Speaker
from stratagem.playing.dispatch import RequestQueue
from stratagem.playing.match import Setup
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.playing.workers.models import CarriedModel, ModelCarrier, copy_of, number_of, own_item
from stratagem.playing.workers.plan import current
from stratagem.playing.workers.threads import use_threads


@dataclass(frozen=True)
class CarriedEngine:
    """Description of an engine, from which a worker opens a copy."""

    number: int
    """Number of the engine in the process that it comes from."""
    spec: TrainableEngineSpec
    model: CarriedModel
    versions: Mapping[str, int]
    """Published versions by adapter."""


@dataclass(frozen=True)
class CarriedShard:
    """Shard of tables for a worker."""

    setups: bytes
    engines: tuple[CarriedEngine, ...]
    serving: TrainableEngineSpec
    """Engine of models that players name by a text."""
    num_threads: int


class ShardCarrier(ModelCarrier):
    """Sender of shards."""

    def pack(self, setups: Sequence[Setup]) -> CarriedShard:
        """Pack a shard; refused where a player cannot be sent."""
        data = io.BytesIO()
        pickler = _Pickler(data)
        try:
            pickler.dump(tuple(setups))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise CannotCompute(
                f"A player or a game of {setups[0].match.text} cannot be sent to a worker: {error}; define it at the "
                "top level of a module, or leave `workers=` out."
            ) from error
        engines = tuple(
            self.engine(engine, names, is_base_trained=engine.version("") > 0)
            for engine, names in pickler.engines.items()
        )
        return CarriedShard(data.getvalue(), engines, serving(), self.plan.threads_per_worker)

    def engine(self, engine: TrainableEngine, adapters: Iterable[str], *, is_base_trained: bool) -> CarriedEngine:
        """Describe an engine with the present weights of some adapters, and of the base if it is trained."""
        model = self.model(engine.lm, adapters, is_base_trained=is_base_trained)
        versions = {weights.adapter: engine.version(weights.adapter) for weights in model.weights}
        return CarriedEngine(number_of(engine), spec_of(engine), model, versions)


class _Pickler(pickle.Pickler):
    """Pickler that replaces engines by their numbers, and collects them with the adapters that players use."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.engines: dict[TrainableEngine, set[str]] = {}

    def persistent_id(self, item: Any) -> int | None:
        if isinstance(item, Speaker):
            self.engines.setdefault(_trainable(item.engine), set()).add(item.adapter)
            return None
        return number_of(item) if hasattr(type(item), "publish") and is_opened(item) else None


def _trainable(engine: Any) -> TrainableEngine:
    if not is_opened(engine):
        raise CannotCompute(f"The engine of {engine.name} cannot be copied to a worker: leave `workers=` out.")
    return engine  # type: ignore[no-any-return]


def run_on_copies(
    engine: TrainableEngine,
    adapters: Iterable[str],
    work: Callable[[TrainableEngine], Any],
    *,
    is_base_trained: bool,
) -> list[CopyOutcome]:
    """Do the same work with the copy of an engine in each worker, under the present weights."""
    plan = current()
    with ShardCarrier(plan, sends_gathered=True) as carrier:
        carried = carrier.engine(engine, adapters, is_base_trained=is_base_trained)
        task = _CopyTask(carried, serving(), plan.threads_per_worker, work)
        return plan.workers.run_on_each(_work_with_copy, task)


# --- in a worker


class _CopyTask(NamedTuple):
    engine: CarriedEngine
    serving: TrainableEngineSpec
    num_threads: int
    work: Callable[[TrainableEngine], Any]


class CopyOutcome(NamedTuple):
    """Result of work with one worker's copy of an engine, or the sentence that refused it."""

    process: str
    """Number of the worker's process, and its machine."""
    value: Any = None
    error: StratagemError | None = None


def _work_with_copy(task: _CopyTask) -> CopyOutcome:
    use_threads(task.num_threads)
    process = f"process {os.getpid()} on {socket.gethostname()}"
    try:
        with served_by(task.serving):
            return CopyOutcome(process, task.work(_copy(task.engine)))
    except StratagemError as error:
        return CopyOutcome(process, error=error)


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
    if (own := own_item(carried.number)) is not None:
        return own  # type: ignore[no-any-return]
    copy = copy_of(carried.model)
    if copy.engine is None:
        copy.engine = open_engine(copy.lm, carried.spec)
    for adapter, version in carried.versions.items():
        if adapter in copy.unpublished or copy.engine.version(adapter) != version:
            copy.engine.publish(adapter, version)
            copy.unpublished.discard(adapter)
    return copy.engine
