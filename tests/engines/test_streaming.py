"""Streaming: who is over is answered, others join in its place, and nobody's reply changes."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from numbered import FREE, Steps, asked, said

from stratagem.base.errors import StratagemError
from stratagem.games.key import Key
from stratagem.language.engines.base import PolicyNode, Prompt, Request, ScoreRequest
from stratagem.language.engines.streaming import BatchEngine
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.transformers_settings import TransformersSettings

ROWS = 8


def long_and_short(engine, number, length):
    """A request for a reply of a given length."""
    prompt = Prompt((), (5, 6, 7 + number))
    return Request(engine=engine, prompt=prompt, guide=Steps([FREE] * length), key=Key(number))


@pytest.fixture
def few(tiny):
    """An engine of few rows."""
    return TransformersEngine(tiny, TransformersSettings(rows=ROWS))


def drained(engine, tickets):
    """Every call by ticket, in the order of arrival."""
    calls = {}
    while len(calls) < len(tickets):
        answered = engine.poll([ticket for ticket in tickets if ticket not in calls])
        assert answered
        calls.update(answered)
    return calls


def test_threads_that_share_an_engine_get_the_replies_of_one_alone(few):
    """Such as a program that plays a model, and the endpoint in it that serves the same model."""
    numbers = range(12)
    alone = [said(call) for call in few.answer([asked(few, number) for number in numbers])]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(5):
            together = threads.map(lambda number: few.answer([asked(few, number)])[0], numbers)
            assert [said(call) for call in together] == alone


def test_one_long_reply_holds_nobody_else(few):
    (long,) = few.submit([long_and_short(few, 0, 200)])
    short = few.submit([long_and_short(few, number, 2) for number in range(1, 40)])
    calls = drained(few, [long, *short])
    assert [*calls][-1] == long
    assert few.reader.num_passes < 260


@pytest.mark.runs
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_replies_that_join_others_are_those_of_an_engine_alone(models, seed):
    """Requests of every kind come a few at a time, while others are in progress; other orders of arrival are `long`."""
    dice = random.Random(seed)
    for kind in ("tiny", "tiny-gemma", "tiny-qwen3.5"):
        engine = TransformersEngine(models[kind], TransformersSettings(rows=ROWS))
        numbers, calls, tickets = list(range(40)), {}, {}
        while numbers or len(calls) < len(tickets):
            some, numbers = numbers[: (cut := dice.randint(1, 9))], numbers[cut:]
            tickets |= dict(zip(some, engine.submit([asked(engine, n) for n in some]), strict=True))
            calls.update(engine.poll([ticket for ticket in tickets.values() if ticket not in calls]))
        alone = TransformersEngine(models[kind], TransformersSettings(prefix_cache_mib=0))
        for number, ticket in tickets.items():
            (expected,) = alone.answer([asked(alone, number)])
            assert said(calls[ticket]) == said(expected)
            assert calls[ticket].sampler_logprobs == pytest.approx(expected.sampler_logprobs, abs=1e-4)


def test_the_same_requests_in_the_same_order_are_equal_to_the_bit(tiny):
    replies = []
    for _ in range(2):
        engine = TransformersEngine(tiny, TransformersSettings(rows=ROWS))
        first = engine.submit([asked(engine, number) for number in range(20)])
        calls = dict(engine.poll(first))
        more = engine.submit([asked(engine, number) for number in range(20, 30)])
        open_ = [ticket for ticket in (*first, *more) if ticket not in calls]
        calls |= drained(engine, open_)
        replies.append([(calls[t].tokens, calls[t].sampler_logprobs) for t in (*first, *more)])
    assert replies[0] == replies[1]


def test_scores_while_replies_are_in_progress_change_neither(few):
    request = ScoreRequest(
        prompt=Prompt((), (9, 8, 7, 6)), nodes=(PolicyNode((3,), (1, 2, 3), True), PolicyNode((), (5,), False))
    )
    expected, others = few.score([request]), few.answer([long_and_short(few, n, 6 + n) for n in range(6)])
    tickets = few.submit([long_and_short(few, number, 6 + number) for number in range(6)])
    calls = dict(few.poll(tickets))
    assert len(calls) < 6
    (scores,) = few.score([request])
    torch.testing.assert_close(scores, expected[0], atol=1e-4, rtol=0)
    calls |= drained(few, [ticket for ticket in tickets if ticket not in calls])
    assert [calls[ticket].tokens for ticket in tickets] == [call.tokens for call in others]


def test_cancelled_requests_leave_and_the_others_stay_as_they_are(few):
    """Requests that wait, that are in progress, and whose answers nobody has fetched."""
    requests = lambda: [long_and_short(few, number, 4 * (number + 1)) for number in range(14)]  # noqa: E731
    expected = few.answer(requests())
    tickets = few.submit(requests())
    calls = dict(few.poll(tickets[:1]))
    few.cancel(tickets[2::2])
    rest = tickets[1::2]
    calls |= drained(few, rest)
    assert [calls[ticket].tokens for ticket in rest] == [call.tokens for call in expected[1::2]]
    assert not few.poll(tickets)


def test_each_asker_gets_its_own_answers_and_the_others_stay(few):
    """A player may ask within the turn of another, whose request is still open."""
    outer = few.submit([long_and_short(few, number, 3) for number in range(4)])
    inner = few.answer([long_and_short(few, number, 5) for number in range(4, 9)])
    assert [len(call.tokens) for call in inner] == [5] * 5
    assert {ticket: len(call.tokens) for ticket, call in drained(few, outer).items()} == dict.fromkeys(outer, 3)


def test_weights_do_not_change_under_replies_in_progress(few):
    tickets = few.submit([long_and_short(few, number, 2 + 40 * (number == 0)) for number in range(4)])
    few.poll(tickets[1:])
    for change in (lambda: few.publish("", 1), few.reset_cache):
        with pytest.raises(RuntimeError, match="1 replies are in progress: fetch or cancel them first"):
            change()
    few.cancel(tickets[:1])
    few.publish("", 1)


def interrupted(*_):
    """A pass that the user stops."""
    raise KeyboardInterrupt


def test_an_error_in_a_pass_leaves_an_engine_that_answers(few, monkeypatch):
    expected = few.answer([long_and_short(few, number, 20) for number in range(6)])
    tickets = few.submit([long_and_short(few, number, 9 * (1 + number)) for number in range(4)])
    few.poll(tickets)
    with monkeypatch.context() as patched:
        patched.setattr(few.reader, "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            few.answer([long_and_short(few, number, 20) for number in range(6)])
    assert few.poll(tickets) == []
    again = few.answer([long_and_short(few, number, 20) for number in range(6)])
    assert [call.tokens for call in again] == [call.tokens for call in expected]
    few.publish("", 1)


@pytest.mark.parametrize(("calls", "number"), [(["one"], 1), ([], 0), (None, 0), (["one"] * 3, 3)])
def test_an_engine_of_another_number_of_calls_is_one_sentence(calls, number):
    class Sparing(BatchEngine):
        def answer(self, requests):
            return calls

    engine = Sparing()
    request = Request(engine=engine, prompt=Prompt(()), guide=None, key=Key(0))
    tickets = engine.submit([request, request])
    with pytest.raises(StratagemError, match=f"Sparing answered 2 requests with {number} calls: its `answer` returns"):
        engine.poll(tickets)
