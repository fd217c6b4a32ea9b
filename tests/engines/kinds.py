"""Kinds of engines of weights on this machine, and how a test opens them on `tiny`."""

from dataclasses import replace

import pytest
from numbered import Steps, said
from plainly import disturb

from fake_vllm import INSTALLED, install
from stratagem.games.key import Key
from stratagem.language.engines.base import Prompt, Request
from stratagem.language.engines.catalogue import VLLM, VLLMServer
from stratagem.language.engines.open import open_engine
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.adapters import add_adapter
from stratagem.language.models.load import load

KINDS = ("transformers", *(pytest.param(kind, marks=pytest.mark.runs) for kind in ("vllm", "vllm-server")))
NAMES = ("", "one", "two", "three")


def opener(kind, request, monkeypatch):
    """Return a function that opens an engine of this kind, with a context of `longest` tokens."""
    if kind == "transformers":
        return _transformers
    if kind == "vllm-server":
        address, engines = request.getfixturevalue("server_of_tiny"), []
        request.addfinalizer(lambda: [engine.batch.stop() for engine in engines])
        return lambda lm, **settings: _served(lm, address, engines, **settings)
    if not INSTALLED:
        install(monkeypatch)
    return lambda lm, longest=0, **settings: open_engine(lm, VLLM(max_model_len=longest, **settings))


def _transformers(lm, longest=0, **settings):
    engine = TransformersEngine(lm)
    engine.longest = longest or engine.longest
    return engine


def _served(lm, address, engines, longest=0, **settings):
    engine = open_engine(lm, VLLMServer(address=address, **settings))
    engines.append(engine)
    if longest:
        engine.batch.runtime.base = replace(engine.batch.runtime.base, longest=longest)
    return engine


def manned_tiny():
    """Tiny with three adapters that do something, of several ranks and on several layers."""
    lm = load("tiny")
    for seed, name in enumerate(NAMES[1:], 1):
        add_adapter(lm, name, rank=2 * seed, alpha=8, targets=["gate_proj", "o_proj"] if name == "three" else None)
        disturb(lm, name, seed)
    return lm


def same(calls, others):
    """Hold calls against those of another engine: equal, log-probabilities to rounding."""
    assert [said(call) for call in calls] == [said(call) for call in others]
    for one, other in zip(calls, others, strict=True):
        assert one.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-4)


def ask(engine, tokens, steps, number=0, **more):
    return Request(engine=engine, prompt=Prompt((), tuple(tokens)), guide=Steps(steps), key=Key(number), **more)
