"""The vLLM engine answers as the transformers engine does; with vLLM itself where it is installed."""

import gc
import random
from weakref import ref

import numpy as np
import pytest
import torch
from numbered import FREE, Steps, asked, said
from plainly import check_reply, disturb
from test_replies_of_players import MODES, moves, player, views

from fake_vllm import INSTALLED, FakeRuntime, FakeRuntimeV2, install
from stratagem.engines.base import Node, Prompt, Request, Sampling, ScoreRequest
from stratagem.engines.catalogue import VLLM
from stratagem.engines.open import open_engine
from stratagem.engines.transformers_engine import TransformersEngine
from stratagem.errors import BadParameter, CannotCompute, MissingExtra, StratagemError, UnknownName
from stratagem.games.key import Key
from stratagem.models.adapters import add_adapter, save_adapter
from stratagem.models.load import load

NAMES = ("", "one", "two", "three")
RUNTIMES = [None] if INSTALLED else [FakeRuntime, FakeRuntimeV2]
CONTEXT = 60


@pytest.fixture(autouse=True, params=RUNTIMES, ids=str)
def runtime(request, monkeypatch):
    """vLLM, or stand-ins with both interfaces of processors."""
    if request.param is not None:
        install(monkeypatch, request.param)
    return request.param


@pytest.fixture(scope="module")
def manned():
    """Tiny with three adapters that do something, of several ranks and on several layers."""
    lm = load("tiny")
    for seed, name in enumerate(NAMES[1:], 1):
        add_adapter(lm, name, rank=2 * seed, alpha=8, targets=["gate_proj", "o_proj"] if name == "three" else None)
        disturb(lm, name, seed)
    return lm


@pytest.fixture
def engine(tiny):
    return open_engine(tiny, VLLM())


def same(calls, others):
    """Hold calls against those of the other engine: equal, log-probabilities to rounding."""
    assert [said(call) for call in calls] == [said(call) for call in others]
    for one, other in zip(calls, others, strict=True):
        assert one.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-4)


def ask(engine, tokens, steps, number=0, **more):
    return Request(engine=engine, prompt=Prompt((), tuple(tokens)), guide=Steps(steps), key=Key(number), **more)


def both(engine, requests):
    """Answer requests of a function by this engine and by the transformers engine."""
    other = TransformersEngine(engine.lm)
    calls = engine.answer(requests(engine))
    same(calls, other.answer(requests(other)))
    return calls


# --- replies


def test_replies_equal_those_of_the_transformers_engine(engine):
    calls = both(engine, lambda e: [asked(e, n) for n in range(48)])
    kinds = {kind for call in calls[:8] for kind in check_reply(engine.lm, call)}
    assert kinds == {"sampled", "forced", "argmax"}
    assert all(call.ms > 0.0 for call in calls if any(call.sampler_logprobs))


def test_reply_is_the_same_alone_and_from_a_warm_cache(engine):
    together = engine.answer([asked(engine, n) for n in range(12)])
    same(together, [engine.answer([asked(engine, n)])[0] for n in range(12)])


def test_few_rows_change_no_reply(tiny):
    both(open_engine(tiny, VLLM(rows=3)), lambda e: [asked(e, n) for n in range(12)])


def test_answers_come_in_the_order_of_the_requests(engine):
    requests = [asked(engine, n) for n in (9, 3, 7, 3, 1)]
    for request, call in zip(requests, calls := engine.answer(requests), strict=True):
        assert call.prompt is request.prompt
        assert list(call.tokens) == request.guide.heard
    assert calls[1].tokens == calls[3].tokens
    assert engine.answer([]) == []


@pytest.mark.parametrize("length", [3, 40])
def test_forced_tokens_are_never_drawn(engine, length):
    """A long run is read at once, as a new prompt."""
    steps = [[7, 8, 9], frozenset({4}), FREE, list(range(20, 20 + length)), frozenset({5, 6}), [9] * length]
    (call,) = both(engine, lambda e: [ask(e, [5], steps, sampling=Sampling(0.5))])
    kinds = [span.kind for span in call.spans]
    assert kinds == ["forced", "sampled", "forced", "sampled", "forced"]
    assert call.tokens[5 : 5 + length] == tuple(range(20, 20 + length))
    if not INSTALLED:
        assert engine.batch.runtime.num_steps == (3 if length == 40 else 6)


def test_reply_that_is_forced_throughout_starts_nothing(engine):
    (call,) = engine.answer([ask(engine, [5, 6], [[7, 8, 9]])])
    assert (call.tokens, call.finish, engine.batch.started) == ((7, 8, 9), "done", None)


def test_long_prompt_draws_once(engine):
    """vLLM reads it in several steps, and draws a token at each, of which only the last one counts."""
    prompt = [(7 * n * n + n) % 1500 for n in range(6000 if INSTALLED else 450)]
    both(engine, lambda e: [ask(e, prompt, [FREE] * 4, 1), asked(e, 2), ask(e, prompt[1:], [FREE] * 3, 2)])


@pytest.mark.parametrize("most", [1, 2, 8])
def test_reply_that_never_stops_is_cut(engine, most):
    def requests(e):
        return [ask(e, [5], steps, max_new_tokens=most) for steps in ([FREE] * 99, [[7] * 99], [FREE, [3] * 99])]

    for call in both(engine, requests):
        assert (len(call.tokens), call.finish) == (most, "length")


def test_full_context_cuts_a_reply(tiny):
    engine = open_engine(tiny, VLLM(max_model_len=CONTEXT))
    calls = engine.answer([ask(engine, [5] * (CONTEXT - 3), [FREE] * 9), ask(engine, [5, 6], [FREE] * 9)])
    assert [(len(call.tokens), call.finish) for call in calls] == [(3, "length"), (9, "done")]


@pytest.mark.parametrize("length", [0, CONTEXT, CONTEXT + 500])
def test_prompt_that_cannot_be_read_is_an_error(tiny, length):
    engine = open_engine(tiny, VLLM(max_model_len=CONTEXT))
    good = [ask(engine, [5, 6, n], [FREE] * 3, n) for n in range(4)]
    calls = engine.answer([*good[:2], ask(engine, [7] * length, [FREE]), *good[2:]])
    bad = calls.pop(2)
    assert (bad.finish, bad.tokens, bad.num_prompt) == ("error", (), length)
    assert bad.text == f"The prompt has {length} tokens, and tiny reads from 1 to {CONTEXT - 1}."
    assert [call.finish for call in calls] == ["done"] * 4
    with pytest.raises(CannotCompute, match=f"The prompt has {length} tokens"):
        engine.score([ScoreRequest(prompt=Prompt((), (7,) * length), nodes=(Node((), (5, 6), True),))])


def test_requests_that_come_later_join_the_batch(engine):
    """Replies are fetched as they come, and each is what it is alone."""
    other = TransformersEngine(engine.lm)
    expected = other.answer([asked(other, n) for n in range(18)])
    number_of, calls, sent = {}, {}, 0
    while len(calls) < 18:
        if sent < 18:
            numbers = range(sent, sent + 6)
            number_of.update(zip(engine.submit([asked(engine, n) for n in numbers]), numbers, strict=True))
            sent += 6
        open_ = [ticket for ticket in number_of if number_of[ticket] not in calls]
        calls.update({number_of[ticket]: call for ticket, call in engine.poll(open_)})
    same([calls[n] for n in range(18)], expected)


def test_scores_may_be_asked_while_replies_are_in_progress(engine):
    other = TransformersEngine(engine.lm)
    first, *tickets = engine.submit([asked(engine, n) for n in range(6)])
    calls = dict(engine.poll([first]))
    request = ScoreRequest(prompt=Prompt((), (5, 6, 7)), nodes=(Node((), (8, 9, 10), True),))
    ((row,),) = engine.score([request])
    assert row == pytest.approx(other.score([request])[0][0], abs=1e-4)
    while left := [ticket for ticket in tickets if ticket not in calls]:
        calls.update(engine.poll(left))
    same([calls[ticket] for ticket in (first, *tickets)], other.answer([asked(other, n) for n in range(6)]))


def test_cancelled_requests_leave_the_batch(engine):
    tickets = engine.submit([ask(engine, [5, n], [FREE] * 20, n) for n in range(6)])
    short = engine.submit([ask(engine, [5], [FREE], 9)])
    assert [ticket for ticket, _ in engine.poll(short)] == short
    with pytest.raises(RuntimeError, match="in progress"):
        engine.reset_cache()
    engine.cancel(tickets)
    engine.reset_cache()
    assert engine.batch.idle
    assert engine.poll(tickets) == []


def test_guide_that_fails_leaves_an_engine_that_works(engine):
    class Fails(Steps):
        def advance(self, token):
            raise ZeroDivisionError

    broken = Request(engine=engine, prompt=Prompt((), (5, 6)), guide=Fails([FREE]), key=Key(1))
    with pytest.raises(ZeroDivisionError):
        engine.answer([asked(engine, 1), broken, asked(engine, 2)])
    both(engine, lambda e: [asked(e, n) for n in range(4)])
    assert engine.batch.idle


def test_later_prompt_goes_on_from_a_reply(engine):
    begun = engine.begin((("system", "You play."), ("user", "Card: Q. What now?")))
    other = TransformersEngine(engine.lm)
    assert begun == other.begin(begun.messages)
    (call,) = engine.answer([Request(engine=engine, prompt=begun, guide=Steps([FREE] * 5), key=Key(3), extended=True)])
    after = engine.follow(call, "Your final action?")
    assert after == other.follow(call, "Your final action?")
    both(engine, lambda e: [Request(engine=e, prompt=after, guide=Steps([FREE]), key=Key(4))])


@pytest.mark.parametrize("name", MODES)
def test_moves_of_every_mode_equal_those_by_the_transformers_engine(engine, name):
    mode, game, style, sampling = MODES[name]
    seen = views(game, 4)
    found, expected = (moves(player(e, mode, style, sampling), seen) for e in (engine, TransformersEngine(engine.lm)))
    for one, other in zip(found, expected, strict=True):
        assert (one.action, one.how) == (other.action, other.how)
        same(one.calls, other.calls)


# --- scores


def nodes_of(call):
    """Nodes before every token of a reply, some of them masked."""
    return tuple(
        Node(call.tokens[:place], allowed or (3, 9, 700), allowed is not None or place % 2 == 0)
        for place, allowed in enumerate(call.allowed)
    )


def test_scores_equal_those_of_the_transformers_engine(engine):
    calls = TransformersEngine(engine.lm).answer([asked(engine, n) for n in range(12)])
    requests = [ScoreRequest(prompt=call.prompt, nodes=nodes_of(call), sampling=call.sampling) for call in calls]
    expected = TransformersEngine(engine.lm).score(requests)
    for rows, others in zip(engine.score([*requests, *requests]), [*expected, *expected], strict=True):
        for row, other in zip(rows, others, strict=True):
            assert row == pytest.approx(other, abs=1e-4)
    assert engine.score([]) == []


# --- adapters


def test_batch_of_several_adapters_equals_the_transformers_engine(manned):
    engine = open_engine(manned, VLLM())
    for call in both(engine, lambda e: [asked(e, n, adapter=NAMES[n % 4]) for n in range(24)])[:4]:
        check_reply(manned, call)


@pytest.mark.parametrize("most", [1, 2])
def test_adapters_beyond_the_slots_wait(manned, most):
    engine = open_engine(manned, VLLM(max_adapters=most))
    for _ in range(2):
        both(engine, lambda e: [asked(e, n, adapter=NAMES[n % 4]) for n in range(16)])


def test_scores_of_several_adapters_are_their_own(manned):
    engine = open_engine(manned, VLLM(max_adapters=2))
    node = Node((), (8, 9, 10), True)
    requests = [ScoreRequest(prompt=Prompt((), (5, 6, 7)), nodes=(node,), adapter=name) for name in NAMES]
    found, expected = engine.score(requests), TransformersEngine(manned).score(requests)
    assert [row for (row,) in found] == [pytest.approx(row, abs=1e-4) for (row,) in expected]
    assert len(set(found)) == 4


def test_unknown_adapter_is_refused(manned):
    engine = open_engine(manned, VLLM())
    with pytest.raises(UnknownName, match="no adapter called 'nope'"):
        engine.answer([asked(engine, 1), asked(engine, 1, adapter="nope")])
    with pytest.raises(UnknownName, match="no adapter called 'nope'"):
        engine.score([ScoreRequest(prompt=Prompt((), (5,)), nodes=(Node((), (8,), True),), adapter="nope")])
    assert engine.batch.idle


def test_published_weights_are_answered_by(manned):
    engine = open_engine(manned, VLLM())
    requests = lambda e: [asked(e, n, adapter=name) for n in range(4) for name in NAMES]  # noqa: E731
    first = both(engine, requests)
    disturb(manned, "two", 98)
    try:
        for version in (5, 5):
            engine.publish("two", version)
            second = engine.answer(requests(engine))
            for one, two in zip(first, second, strict=True):
                check_reply(manned, two)
                assert two.policy.version == (5 if two.policy.adapter == "two" else 0)
                if two.policy.adapter != "two":
                    assert one.tokens == two.tokens
            disturb(manned, "two", 97)
    finally:
        disturb(manned, "two", NAMES.index("two"))


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


def test_adapter_by_path_answers_as_it_did(manned, tmp_path):
    save_adapter(manned, "two", tmp_path / "blue")
    engine, original = open_engine(load("tiny"), VLLM()), TransformersEngine(manned)
    name = engine.load_adapter(str(tmp_path / "blue"))
    assert engine.load_adapter(str(tmp_path / "blue")) == name
    calls = engine.answer([asked(engine, n, adapter=name) for n in range(6)])
    expected = original.answer([asked(original, n, adapter="two") for n in range(6)])
    assert [call.tokens for call in calls] == [call.tokens for call in expected]
    assert {call.policy.adapter for call in calls} == {name}
    engine.drop_adapter(name)
    assert (tmp_path / "blue").is_dir()
    with pytest.raises(UnknownName):
        engine.answer([asked(engine, 1, adapter=name)])


def test_adapter_of_another_base_is_refused(manned, tmp_path):
    save_adapter(manned, "two", tmp_path / "blue")
    engine = open_engine(load("tiny-qwen"), VLLM())
    with pytest.raises(StratagemError, match=r"was trained on tiny \(.*does not fit tiny-qwen"):
        engine.load_adapter(str(tmp_path / "blue"))


def test_adapter_of_a_larger_rank_is_refused_in_a_sentence(manned):
    engine = open_engine(manned, VLLM(max_rank=1))
    with pytest.raises(BadParameter, match="takes adapters up to rank 1, and one has rank 2: raise `max_rank`"):
        engine.answer([asked(engine, 1, adapter="one")])
    assert engine.batch.idle
    both(engine, lambda e: [asked(e, 1)])


# --- a unit of work, and the process around it


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
    monkeypatch.setattr("stratagem.engines.vllm.runtime.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install -e '.\[vllm\]' in the checkout, or make vllm where there is"):
        open_engine(tiny, VLLM())
