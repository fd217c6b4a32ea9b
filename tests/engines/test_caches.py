"""A unit of work has bit-identical results, whatever was computed before it."""

import gc
import weakref

import pytest
from numbered import asked, said

from stratagem.language.engines.base import PolicyNode, Prompt, ScoreRequest
from stratagem.language.engines.caches import reset_caches
from stratagem.language.engines.open import open_engine
from stratagem.language.engines.transformers_engine import TransformersEngine

BOTH_READERS = pytest.mark.parametrize(
    "lm", ["tiny", pytest.param("tiny-qwen3.5", marks=pytest.mark.runs)], indirect=True
)


def shard(engine, number):
    """A unit of work: three batches that share beginnings, and scores."""
    batches = [[asked(engine, number * 7 + n) for n in range(size)] for size in (5, 9, 3)]
    calls = [call for batch in batches for call in engine.answer(batch)]
    nodes = tuple(PolicyNode(call.tokens[:1], (5, 6), False) for call in calls[:4])
    scores = engine.score([ScoreRequest(prompt=Prompt((), calls[0].prompt.tokens), nodes=nodes)])
    return [(said(call), call.sampler_logprobs) for call in calls], scores


@BOTH_READERS
def test_units_of_work_are_the_same_to_the_bit_in_any_order(engine):
    alone = {number: shard(TransformersEngine(engine.lm), number) for number in range(3)}
    order = [2, 0, 0, 1, 2]
    for number in order:
        reset_caches()
        assert shard(engine, number) == alone[number]


def test_an_engine_after_a_reset_reads_as_much_as_a_new_one(small):
    shard(small, 1)
    before = small.reader.num_tokens
    shard(small, 1)
    known = small.reader.num_tokens - before
    reset_caches()
    before = small.reader.num_tokens
    shard(small, 1)
    new = TransformersEngine(small.lm)
    shard(new, 1)
    assert small.reader.num_tokens - before == new.reader.num_tokens > known


def test_a_reset_frees_the_store(small):
    shard(small, 1)
    assert small.reader.prefixes.size > 0
    assert small.reader.batch_rows.store.room > (0, 0)
    reset_caches()
    assert small.reader.prefixes.size == 0
    assert (small.reader.batch_rows.store.room, small.reader.batch_rows.store.data) == ((0, 0), [])


def test_an_engine_is_reached_only_while_it_lives(tiny, monkeypatch):
    engine, reached = open_engine(tiny), []
    monkeypatch.setattr(type(engine), "reset_cache", lambda engine: reached.append(id(engine)))
    number, alive = id(engine), weakref.ref(engine)
    reset_caches()
    assert number in reached
    del engine
    gc.collect()
    assert alive() is None


def test_what_an_engine_keeps_does_not_grow_from_unit_to_unit(small):
    kept = []
    for number in range(4):
        reset_caches()
        shard(small, number)
        new = TransformersEngine(small.lm)
        shard(new, number)
        kept.append((small.reader.prefixes.size, new.reader.prefixes.size))
    assert all(own == alone > 0 for own, alone in kept)
