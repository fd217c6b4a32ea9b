"""vLLM in this process: its start, its slots, its settings; with vLLM itself where it is installed."""

import gc
import random
from weakref import ref

import numpy as np
import pytest
import torch
from kinds import NAMES, ask, manned_tiny, same
from numbered import FREE, asked, said
from plainly import check_reply

from fake_vllm import INSTALLED, FakeRuntime, FakeRuntimeV2, install
from stratagem.base.errors import BadParameter, MissingExtra
from stratagem.language.engines.base import PolicyNode, Prompt, Sampling, ScoreRequest
from stratagem.language.engines.catalogue import VLLM
from stratagem.language.engines.open import open_engine
from stratagem.language.engines.transformers_engine import TransformersEngine

pytestmark = pytest.mark.runs

RUNTIMES = [None] if INSTALLED else [FakeRuntime, FakeRuntimeV2]


@pytest.fixture(autouse=True, params=RUNTIMES, ids=str)
def runtime(request, monkeypatch):
    """vLLM, or stand-ins with both interfaces of processors."""
    if request.param is not None:
        install(monkeypatch, request.param)
    return request.param


@pytest.fixture(scope="module")
def manned():
    return manned_tiny()


@pytest.fixture
def engine(tiny):
    return open_engine(tiny, VLLM())


def both(engine, requests):
    """Answer requests of a function by this engine and by the transformers engine."""
    other = TransformersEngine(engine.lm)
    calls = engine.answer(requests(engine))
    same(calls, other.answer(requests(other)))
    return calls


def test_replies_equal_those_of_the_transformers_engine(engine):
    both(engine, lambda e: [asked(e, n) for n in range(12)])


def test_sampler_is_refused_in_replies_and_scores(engine):
    explored = Sampling(sampler="epsilon_uniform")
    with pytest.raises(BadParameter, match="vLLM draws without the sampler epsilon_uniform: leave it out, or take"):
        engine.answer([ask(engine, [5], [FREE], sampling=explored)])
    node = PolicyNode((), (7, 8), masked=True)
    with pytest.raises(BadParameter, match="vLLM draws without the sampler epsilon_uniform: leave it out, or take"):
        engine.score([ScoreRequest(prompt=Prompt((), (5, 6)), nodes=(node,), sampling=explored)])
    both(engine, lambda e: [ask(e, [5], [FREE])])


@pytest.mark.skipif(INSTALLED, reason="vLLM does not count its steps")
@pytest.mark.parametrize(("length", "steps"), [(3, 5), (40, 2)])
def test_long_forced_run_is_read_in_one_step(engine, length, steps):
    own = [FREE, list(range(20, 20 + length)), FREE, [9] * length]
    both(engine, lambda e: [ask(e, [5], own)])
    assert engine.batch.runtime.num_steps == steps


def test_few_rows_change_no_reply(tiny):
    both(open_engine(tiny, VLLM(rows=3)), lambda e: [asked(e, n) for n in range(12)])


def test_reply_that_is_forced_throughout_starts_nothing(engine):
    (call,) = engine.answer([ask(engine, [5, 6], [[7, 8, 9]])])
    assert (call.tokens, call.finish, engine.batch.started) == ((7, 8, 9), "done", None)


@pytest.mark.parametrize("most", [1, 2])
def test_adapters_beyond_the_slots_wait(manned, most):
    engine = open_engine(manned, VLLM(max_adapters=most))
    for _ in range(2):
        both(engine, lambda e: [asked(e, n, adapter=NAMES[n % 4]) for n in range(16)])


def test_published_base_is_new_to_every_adapter(manned):
    engine = open_engine(manned, VLLM())
    requests = lambda e: [asked(e, n, adapter=name) for n in range(3) for name in NAMES[:2]]  # noqa: E731
    both(engine, requests)
    weights = [weight for name, weight in manned.model.named_parameters() if ".lora_" not in name]
    saved = [weight.clone() for weight in weights]
    try:
        for factor in (1.2, 0.9):
            with torch.no_grad():
                for weight in weights:
                    weight.mul_(factor)
            engine.publish("", 2)
            for call in engine.answer(requests(engine)):
                check_reply(manned, call)
                assert call.policy.version == (0 if call.policy.adapter else 2)
    finally:
        with torch.no_grad():
            for weight, copy in zip(weights, saved, strict=True):
                weight.copy_(copy)


def test_adapter_of_a_larger_rank_is_refused_in_a_sentence(manned):
    engine = open_engine(manned, VLLM(max_rank=1))
    with pytest.raises(BadParameter, match="takes adapters up to rank 1, and one has rank 2: raise `max_rank`"):
        engine.answer([asked(engine, 1, adapter="one")])
    assert engine.batch.idle
    both(engine, lambda e: [asked(e, 1)])


def test_results_are_the_same_to_the_bit_after_a_reset(manned):
    engine, other = open_engine(manned, VLLM()), open_engine(manned, VLLM())
    one, two = lambda e: [asked(e, n, adapter=NAMES[n % 4]) for n in range(12)], lambda e: [asked(e, 40)]
    engine.answer(one(engine))
    engine.answer(two(engine))
    engine.reset_cache()
    found, expected = engine.answer(one(engine)), other.answer(one(other))
    assert [(said(c), c.sampler_logprobs) for c in found] == [(said(c), c.sampler_logprobs) for c in expected]


def test_start_leaves_the_process_as_it_was(engine):
    random.seed(1), np.random.seed(2), torch.manual_seed(3)
    threads, set_threads = torch.get_num_threads(), torch.set_num_threads
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    engine.answer([asked(engine, 1)])
    assert before == (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())
    assert (torch.get_num_threads(), torch.set_num_threads) == (threads, set_threads)


def test_engine_that_nobody_uses_is_freed(tiny):
    engine = open_engine(tiny, VLLM())
    engine.answer([asked(engine, n) for n in range(3)])
    left, runtime = ref(engine), ref(engine.batch.started)
    del engine
    gc.collect()
    assert left() is None
    assert runtime() is None


def test_four_bit_weights_are_refused(tiny):
    class Small:
        name = "small+4bit"

    with pytest.raises(BadParameter, match=r"cannot read the 4-bit weights of small\+4bit"):
        open_engine(Small(), VLLM())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rows": 0}, "needs `rows` of at least 1"),
        ({"max_adapters": 0}, "needs `max_adapters` of at least 1"),
        ({"max_rank": 12}, "needs `max_rank` to be one of 1, 8, 16"),
        ({"kv_cache_mib": -1}, "needs `kv_cache_mib` of at least 0"),
        ({"gpu_memory_utilization": 0.0}, "above 0 and at most 1"),
    ],
)
def test_settings_out_of_bounds_are_refused(changes, sentence):
    with pytest.raises(BadParameter, match=sentence):
        VLLM(**changes)


def test_missing_vllm_is_one_sentence(tiny, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr("stratagem.language.engines.vllm.runtime.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install -e '.\[vllm\]' in the checkout, or make vllm where there is"):
        open_engine(tiny, VLLM())
