"""Opening of engines: beside a learner for its model, and for a model text once, shared by all on the same base."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from stratagem.base.consent.table import check_host
from stratagem.base.errors import BadParameter
from stratagem.language.engines.agents.open import agent_engines
from stratagem.language.engines.base import Engine, TrainableEngine
from stratagem.language.engines.caches import register
from stratagem.language.engines.catalogue import API, Transformers
from stratagem.language.engines.remote.tally import EngineTally, Prices, prices_of
from stratagem.language.engines.remote.terms import Terms, current
from stratagem.language.engines.spec import TrainableEngineSpec
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.reference import BadModel, ModelRef, parse_model
from stratagem.language.models.run_models import resolve_model
from stratagem.language.models.unloaded import check_loads

DEFAULT = Transformers()
"""Engine of weights on this machine where no other is chosen."""
_METHODS = (
    "version",
    "begin",
    "follow",
    "submit",
    "poll",
    "cancel",
    "score",
    "publish",
    "load_adapter",
    "drop_adapter",
    "reset_cache",
)
_specs: list[TrainableEngineSpec] = [DEFAULT]
_opened_by: WeakKeyDictionary[Any, TrainableEngineSpec] = WeakKeyDictionary()
_present: dict[ModelRef, _Present] = {}
SERVERS: dict[tuple[ModelRef, Terms, Prices | None], Engine] = {}


class AdaptedEngine(NamedTuple):
    """Engine and the adapter on it (empty: none)."""

    engine: Engine
    adapter: str


def open_engine(lm: LanguageModel, spec: TrainableEngineSpec = DEFAULT) -> TrainableEngine:
    """Open an engine of a learner's model."""
    return _check_engine(spec.open(lm), spec)


def _check_engine(engine: TrainableEngine, spec: TrainableEngineSpec) -> TrainableEngine:
    """Refuse an engine that lacks a method, before anything is played; `reset_caches` reaches the others."""
    if lacking := [name for name in _METHODS if not callable(getattr(engine, name, None))]:
        raise BadParameter(f"The engine of {type(spec).__name__} lacks the method {lacking[0]} of `TrainableEngine`.")
    register(engine)
    _opened_by[engine] = spec
    return engine


def spec_of(engine: TrainableEngine) -> TrainableEngineSpec:
    """Return the settings that an engine was opened with."""
    return _opened_by[engine]


def serving() -> TrainableEngineSpec:
    """Return the engine that serves models of this machine which are named now."""
    return _specs[-1]


def is_opened(engine: object) -> bool:
    """Return whether an engine of weights was opened by `open_engine` or `engine_for`."""
    return engine in _opened_by


@contextmanager
def served_by(spec: TrainableEngineSpec) -> Iterator[None]:
    """Serve models of this machine that are named within by another kind of engine, or with other settings."""
    _specs.append(spec)
    try:
        yield
    finally:
        _specs.pop()


def engine_for(text: str) -> AdaptedEngine:
    """Return the engine of a model text, with its adapter loaded; several models on one base share an engine."""
    ref = resolve_model(parse_model(text))
    if ref.url is not None:
        check_host(ref.url)
        return AdaptedEngine(_remote(ref), "")
    if len(ref.adapters) > 1:
        raise BadModel(f"A player has one adapter, and {text!r} names {len(ref.adapters)}: leave one.")
    base = _base_of(ref)
    if base in _present:
        present = _present[base]
        return AdaptedEngine(present.engine, present.adapter(ref.adapters[0].path) if ref.adapters else "")
    engine = local_engine(base, _specs[-1])
    if not ref.adapters:
        return AdaptedEngine(engine, "")
    return AdaptedEngine(engine, _adapter(base, _specs[-1], ref.adapters[0].path))


def _base_of(ref: ModelRef) -> ModelRef:
    return ModelRef(ref.kind, ref.where, ref.revision, four_bit=ref.four_bit, dtype=ref.dtype)


@dataclass
class _Present:
    """Engine that serves a base within a context, with the adapters that were loaded there."""

    engine: TrainableEngine
    names: dict[str, str] = field(default_factory=dict)

    def adapter(self, path: str) -> str:
        if path not in self.names:
            self.names[path] = self.engine.load_adapter(path)
        return self.names[path]


@contextmanager
def serving_base(text: str, engine: TrainableEngine) -> Iterator[None]:
    """Serve the base of a model text, and adapters on it, by an engine that is open, so that it is not loaded twice."""
    base = _base_of(resolve_model(parse_model(text)))
    before = _present.get(base)
    _present[base] = _Present(engine)
    try:
        yield
    finally:
        del _present[base]
        if before is not None:
            _present[base] = before


def engine_of(text: str) -> Engine:
    """Return the engine of a model text."""
    return engine_for(text).engine


def _remote(ref: ModelRef) -> Engine:
    known = ref, current(), prices_of(ref.where)
    if known not in SERVERS:
        SERVERS[known] = API().serve(ref)
    return SERVERS[known]


@runtime_checkable
class _Counts(Protocol):
    """Engine that counts its requests."""

    tally: EngineTally


def tallies() -> dict[str, EngineTally]:
    """Return the tally of every server and agent named so far, by its name, whatever the terms it was asked on."""
    found: dict[str, EngineTally] = {}
    for engine in (*SERVERS.values(), *agent_engines()):
        if isinstance(engine, _Counts) and engine.tally.num_requests:
            before = found.get(engine.name)
            found[engine.name] = engine.tally.plus(before) if before else engine.tally
    return found


@cache
def local_engine(base: ModelRef, spec: TrainableEngineSpec) -> TrainableEngine:
    """Return the engine of a base on this machine, opened once for each of its specs."""
    check_loads(base)
    return _check_engine(spec.serve(base), spec)


@cache
def _adapter(base: ModelRef, spec: TrainableEngineSpec, path: str) -> str:
    """Return the name under which an adapter's folder is loaded on its base."""
    return local_engine(base, spec).load_adapter(path)
