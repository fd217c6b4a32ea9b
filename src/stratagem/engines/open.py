"""Engine of a model text: made once, then shared by everyone who names the same base model."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from stratagem.engines.base import Engine
from stratagem.engines.remote.hosts import check_allowed
from stratagem.engines.remote.tally import Tally
from stratagem.engines.remote.terms import Terms, current
from stratagem.models.reference import BadModel, ModelRef, parse_model
from stratagem.models.run_models import resolved

if TYPE_CHECKING:
    from stratagem.engines.openai_engine import OpenAIEngine


_servers: dict[tuple[ModelRef, Terms], OpenAIEngine] = {}


class Served(NamedTuple):
    """Engine and the adapter on it (empty: none)."""

    engine: Engine
    adapter: str


def served(text: str) -> Served:
    """Return the engine of a model text, with its adapter loaded; several models on one base share an engine."""
    ref = resolved(parse_model(text))
    if ref.url is not None:
        check_allowed(ref.url)
        return Served(_remote(ref), "")
    if len(ref.adapters) > 1:
        raise BadModel(f"A player has one adapter, and {text!r} names {len(ref.adapters)}: leave one.")
    base = ModelRef(ref.kind, ref.where, ref.revision, four_bit=ref.four_bit, dtype=ref.dtype)
    engine = _local(base)
    if not ref.adapters:
        return Served(engine, "")
    return Served(engine, _adapter(base, ref.adapters[0].path))


def engine_of(text: str) -> Engine:
    """Return the engine of a model text."""
    return served(text).engine


def _remote(ref: ModelRef) -> Engine:
    from stratagem.engines.openai_engine import OpenAIEngine

    known = ref, current()
    if known not in _servers:
        _servers[known] = OpenAIEngine(ref)
    return _servers[known]


def tallies() -> dict[str, Tally]:
    """Return the tally of every server named so far, by the text that names the model."""
    return {engine.name: engine.tally for engine in _servers.values() if engine.tally.num_requests}


@cache
def _local(base: ModelRef) -> Engine:
    from stratagem.engines.transformers_engine import TransformersEngine
    from stratagem.models.load import load

    return TransformersEngine(load(base))


@cache
def _adapter(base: ModelRef, path: str) -> str:
    """Return the name under which an adapter's folder is loaded on its base."""
    from stratagem.engines.transformers_engine import TransformersEngine

    engine = _local(base)
    assert isinstance(engine, TransformersEngine)
    return engine.load_adapter(path)
