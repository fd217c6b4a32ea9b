"""Passes of one token a row by graphs, here recorded as plain calls: the same replies, and no stale graph."""

import pytest
import torch
from numbered import FREE, Steps, asked, said
from plainly import disturb
from test_architectures import make  # noqa: F401 - a fixture

from stratagem.language.engines import graphed_step, reader
from stratagem.language.engines.graphed_step import BLOCKS, OFTEN, round_up_rows
from stratagem.language.engines.row_store import Blocks, RowStore
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.transformers_settings import TransformersSettings
from stratagem.language.models.adapters import add_adapter
from stratagem.language.models.load import load

pytestmark = pytest.mark.usefixtures("probing_anew")
NUMBER = 16


class Recorder:
    """Recorder whose graphs run the work again; a graph reads and writes what was there when it was recorded."""

    def __init__(self):
        self.made = self.run = 0
        self.places = dict
        """Function to the addresses of what a graph reads and writes beside its buffers."""

    def __call__(self, work):
        self.made += 1
        work()
        places = self.places()

        def run():
            self.run += 1
            work()
            assert self.places() == places

        return run


@pytest.fixture
def recorder(monkeypatch):
    recorder = Recorder()
    monkeypatch.setattr(reader, "graphs_for", lambda device: lambda: recorder)
    return recorder


def places_of(engine):
    """Return the addresses of the store and of the factors of the adapters."""
    store, weights = engine.reader.batch_rows.store, engine.reader.weights
    parts = weights.stack and weights.stack.parts
    factors = {place: part.inward.data_ptr() for place, part in (parts or {}).items() if part is not None}
    return {"store": [data.data_ptr() for data in store.data], **factors}


def made(recorder, lm, settings=TransformersSettings()):  # noqa: B008 - settings are frozen
    """Make an engine whose graphs check the addresses."""
    engine = TransformersEngine(lm, settings)
    recorder.places = lambda: places_of(engine)
    engine.reader.step.forget(base=False)
    return engine


def answers(engine, adapters=("",), count=NUMBER, longest=12):
    """Tokens and log-probabilities of free replies of many lengths."""
    lengths = [
        [FREE] * (4 + number % longest) if number % 4 else [frozenset({7, 8}), *[FREE] * 9] for number in range(count)
    ]
    return engine.answer(
        [
            asked(engine, number, adapter=adapters[number % len(adapters)], guide=Steps(steps))
            for number, steps in enumerate(lengths)
        ]
    )


def same(calls, others):
    assert [said(call) for call in calls] == [said(call) for call in others]
    for call, other in zip(calls, others, strict=True):
        assert call.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-4)


def plainly(lm, adapters=("",), settings=TransformersSettings(), published=(), count=NUMBER):  # noqa: B008 - frozen
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "graphs_for", lambda device: None)
        engine = TransformersEngine(lm, settings)
        for adapter in published:
            engine.publish(adapter, 1)
        return answers(engine, adapters, count)


@pytest.mark.parametrize("packed", [0, 4096])
@pytest.mark.parametrize("name", ["Llama", "Qwen3", "Gemma 3"])
def test_replies_by_graphs_are_those_of_plain_passes(make, recorder, name, packed):  # noqa: F811
    lm, settings = make(name), TransformersSettings(packed_weights_mib=packed)
    engine = made(recorder, lm, settings)
    probed = recorder.made
    calls = answers(engine)
    assert probed, "the probe of the reader runs a graph"
    assert recorder.made > probed
    assert recorder.run > recorder.made
    same(calls, plainly(lm, settings=settings))


@pytest.mark.parametrize(
    ("packed", "names"),
    [(0, ("one",)), (0, ("one", "two")), (0, ("", "one", "two")), (4096, ("", "one", "two"))],
    ids=str,
)
def test_adapters_and_their_new_weights_are_read_by_graphs(recorder, names, packed):
    lm, settings = load("tiny"), TransformersSettings(packed_weights_mib=packed)
    for seed, name in enumerate(("one", "two"), 1):
        add_adapter(lm, name, rank=2, alpha=8)
        disturb(lm, name, seed)
    engine = made(recorder, lm, settings)
    before = answers(engine, names, 8)
    same(before, plainly(lm, names, settings, count=8))
    run = recorder.run
    same(answers(engine, names, 8), before)
    assert recorder.run > run
    disturb(lm, "one", 7)
    engine.publish("one", 1)
    assert not engine.reader.step.passes
    after = answers(engine, names, 8)
    same(after, plainly(lm, names, settings, published=["one"], count=8))
    assert [call.tokens for call in before] != [call.tokens for call in after]


def test_new_weights_of_the_base_are_read_by_graphs(recorder):
    lm = load("tiny")
    engine = made(recorder, lm)
    answers(engine)
    with torch.no_grad():
        lm.model.model.layers[0].mlp.gate_proj.weight.normal_(std=0.3)
    engine.publish("", 1)
    assert not engine.reader.step.passes
    same(answers(engine), plainly(lm, published=[""]))


def test_a_reset_engine_makes_its_graphs_anew(recorder):
    engine = made(recorder, load("tiny"))
    first = answers(engine)
    assert engine.reader.step.passes
    engine.reset_cache()
    assert not engine.reader.step.passes
    same(answers(engine), first)


KEPT = TransformersSettings(kept_graphs=True)


def test_kept_graphs_serve_the_next_unit_with_the_same_bits(recorder):
    """Shapes are counted anew, so the same passes are graphs as in a new process; only the recording is spared."""
    lm = load("tiny")
    engine = made(recorder, lm, KEPT)
    first = answers(engine)
    number, run = recorder.made, recorder.run
    for _ in range(2):
        engine.reset_cache()
        assert not engine.reader.step.passes
        again = answers(engine)
        assert [(call.tokens, call.sampler_logprobs) for call in again] == [
            (call.tokens, call.sampler_logprobs) for call in first
        ]
    assert recorder.made == number
    assert recorder.run > run
    engine.reset_cache()
    store = engine.reader.batch_rows.store
    assert not store.data
    assert len(store.spares) <= 4


@pytest.mark.parametrize(
    ("packed", "names"), [(0, ("one",)), (0, ("", "one", "two")), (4096, ("one",)), (4096, ("", "one", "two"))], ids=str
)
def test_kept_graphs_read_new_weights_of_adapters(recorder, names, packed):
    lm, settings = load("tiny"), TransformersSettings(packed_weights_mib=packed, kept_graphs=True)
    for seed, name in enumerate(("one", "two"), 1):
        add_adapter(lm, name, rank=2, alpha=8)
        disturb(lm, name, seed)
    engine = made(recorder, lm, settings)
    before = answers(engine, names, 8)
    number = recorder.made
    disturb(lm, "one", 7)
    engine.publish("one", 1)
    engine.reset_cache()
    after = answers(engine, names, 8)
    same(after, plainly(lm, names, settings, published=["one"], count=8))
    assert [call.tokens for call in before] != [call.tokens for call in after]
    assert recorder.made == number


def test_kept_graphs_do_not_serve_another_adapter_of_the_same_name(recorder):
    lm, settings = load("tiny"), TransformersSettings(packed_weights_mib=4096, kept_graphs=True)
    add_adapter(lm, "stays", rank=2, alpha=8)
    engine = made(recorder, lm, settings)
    for rank, seed in ((2, 1), (2, 5), (3, 6)):
        add_adapter(lm, "one", rank=rank, alpha=8)
        disturb(lm, "one", seed)
        same(answers(engine, ("one",), 8), plainly(lm, ("one",), settings, count=8))
        engine.drop_adapter("one")
        engine.reset_cache()


def test_new_weights_of_the_base_are_read_without_kept_graphs(recorder):
    lm = load("tiny")
    engine = made(recorder, lm, KEPT)
    answers(engine)
    with torch.no_grad():
        lm.model.model.layers[0].mlp.gate_proj.weight.normal_(std=0.3)
    engine.publish("", 1)
    assert not engine.reader.step.kept_graphs
    same(answers(engine), plainly(lm, published=[""]))


def test_graphs_are_dropped_when_the_store_grows(recorder):
    lm = load("tiny")
    engine = made(recorder, lm)
    store, rooms = engine.reader.batch_rows.store, set()
    recorder.places = lambda: rooms.add(store.room) or places_of(engine)
    long = [asked(engine, number, guide=Steps([FREE] * 130)) for number in range(2)]
    calls = engine.answer(long)
    assert len(rooms) > 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "graphs_for", lambda device: None)
        other = TransformersEngine(lm)
        same(calls, other.answer([asked(other, number, guide=Steps([FREE] * 130)) for number in range(2)]))


def test_only_the_most_recent_graphs_are_kept(recorder, monkeypatch):
    monkeypatch.setattr(graphed_step, "MOST_GRAPHS", 2)
    engine = made(recorder, load("tiny"))
    answers(engine, longest=20)  # three shapes that come often
    step = engine.reader.step
    assert len(step.passes) == 2
    assert all(step.seen[shape] < OFTEN for shape in step.seen if shape not in step.passes)


def test_a_graph_that_cannot_be_made_is_said_and_not_used(monkeypatch):
    def broken(work):
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(reader, "graphs_for", lambda device: lambda: broken)
    lm = load("tiny")
    with pytest.warns(
        UserWarning, match="passes are no CUDA graphs, and slower: RuntimeError: operation not permitted"
    ):
        engine = TransformersEngine(lm)
    assert "CUDA graphs" not in lm.reading["rollouts"]
    same(answers(engine), plainly(lm))


def test_graphs_can_be_left_out(recorder):
    lm = load("tiny")
    answers(TransformersEngine(lm, TransformersSettings(cuda_graphs=False)))
    assert not recorder.made
    assert "CUDA graphs" not in lm.reading["rollouts"]


def test_the_report_says_that_passes_are_graphs(recorder):
    lm = load("tiny")
    TransformersEngine(lm)
    assert lm.reading["rollouts"].endswith("; by packed weights and CUDA graphs")
    TransformersEngine(lm, TransformersSettings(packed_weights_mib=0))
    assert (
        "by the model's own layers and CUDA graphs, since the setting packed_weights_mib is 0" in lm.reading["rollouts"]
    )


def test_a_graph_that_computes_something_else_is_found_by_the_probe(monkeypatch):
    def stale(work):
        return lambda: None

    monkeypatch.setattr(reader, "graphs_for", lambda device: lambda: stale)
    lm = load("tiny")
    with pytest.warns(UserWarning, match="passes of tiny are no CUDA graphs, and slower: it deviates by"):
        engine = TransformersEngine(lm)
    assert lm.reading["rollouts"].endswith("; by packed weights")
    same(answers(engine), plainly(lm))


def test_a_store_that_was_freed_or_grew_is_another_allocation():
    store = RowStore([(2, 4)])
    seen = [store.allocation]
    for change in (lambda: store.reserve(2, 10), lambda: store.reserve(2, 100), store.free):
        change()
        if not store.data and store.room != (0, 0):
            store.paste((torch.zeros(1, 2, 2, 3, 4),), [0], 0, 3)
        seen.append(store.allocation)
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(("rows", "expected"), [(1, 1), (2, 2), (3, 4), (5, 8), (8, 8), (9, 16), (63, 64), (65, 72)])
def test_rows_are_filled_up_to_few_numbers(rows, expected):
    assert round_up_rows(rows) == expected
    assert expected <= BLOCKS.room(rows, 1)[0]


def test_rooms_come_in_whole_blocks():
    assert Blocks(8, 64).room(9, 65) == (16, 128)
    assert Blocks(1, 1).room(9, 65) == (9, 65)
