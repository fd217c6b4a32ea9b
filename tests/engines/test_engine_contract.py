"""The contract of engines: vLLM in this process and behind an address answer as the transformers engine does.

Where vLLM is not installed, stand-ins with its interfaces take its place.
"""

import pytest
from kinds import KINDS, NAMES, ask, manned_tiny, opener, same
from numbered import FREE, Steps, asked
from plainly import check_reply, disturb
from test_replies_of_players import MODES, moves, player, views

from fake_vllm import INSTALLED
from stratagem.base.errors import CannotCompute, StratagemError, UnknownName
from stratagem.games.key import Key
from stratagem.language.engines.base import PolicyNode, Prompt, Request, Sampling, ScoreRequest
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.adapters import save_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import example_from_call

CONTEXT = 60


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def opened(kind, request, monkeypatch):
    """A function that opens an engine of this kind."""
    return opener(kind, request, monkeypatch)


@pytest.fixture(scope="module")
def manned():
    return manned_tiny()


@pytest.fixture
def engine(tiny, opened):
    return opened(tiny)


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


def test_full_context_cuts_a_reply(tiny, opened):
    engine = opened(tiny, longest=CONTEXT)
    calls = engine.answer([ask(engine, [5] * (CONTEXT - 3), [FREE] * 9), ask(engine, [5, 6], [FREE] * 9)])
    assert [(len(call.tokens), call.finish) for call in calls] == [(3, "length"), (9, "done")]


@pytest.mark.parametrize("length", [0, CONTEXT, CONTEXT + 500])
def test_prompt_that_cannot_be_read_is_an_error(tiny, length, opened):
    engine = opened(tiny, longest=CONTEXT)
    good = [ask(engine, [5, 6, n], [FREE] * 3, n) for n in range(4)]
    calls = engine.answer([*good[:2], ask(engine, [7] * length, [FREE]), *good[2:]])
    bad = calls.pop(2)
    assert (bad.finish, bad.tokens, bad.num_prompt) == ("error", (), length)
    assert bad.text == f"The prompt has {length} tokens, and tiny reads from 1 to {CONTEXT - 1}."
    assert [call.finish for call in calls] == ["done"] * 4
    with pytest.raises(CannotCompute, match=f"The prompt has {length} tokens"):
        engine.score([ScoreRequest(prompt=Prompt((), (7,) * length), nodes=(PolicyNode((), (5, 6), True),))])


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
    request = ScoreRequest(prompt=Prompt((), (5, 6, 7)), nodes=(PolicyNode((), (8, 9, 10), True),))
    ((row,),) = engine.score([request])
    assert row == pytest.approx(other.score([request])[0][0], abs=1e-4)
    while left := [ticket for ticket in tickets if ticket not in calls]:
        calls.update(engine.poll(left))
    same([calls[ticket] for ticket in (first, *tickets)], other.answer([asked(other, n) for n in range(6)]))


def test_cancelled_requests_leave_the_batch(engine):
    tickets = engine.submit([ask(engine, [5, n], [FREE] * 20, n) for n in range(3)])
    short = engine.submit([ask(engine, [5], [FREE], n) for n in range(9, 13)])
    engine.poll(short)
    with pytest.raises(RuntimeError, match="in progress"):
        engine.reset_cache()
    engine.cancel([*tickets, *short])
    engine.reset_cache()
    assert engine.poll(tickets) == []
    assert engine.poll(short) == []


def test_guide_that_fails_leaves_an_engine_that_works(engine):
    class Fails(Steps):
        def advance(self, token):
            raise ZeroDivisionError

    broken = Request(engine=engine, prompt=Prompt((), (5, 6)), guide=Fails([FREE]), key=Key(1))
    with pytest.raises(ZeroDivisionError):
        engine.answer([asked(engine, 1), broken, asked(engine, 2)])
    both(engine, lambda e: [asked(e, n) for n in range(4)])
    engine.reset_cache()


def test_later_prompt_goes_on_from_a_reply(engine):
    begun = engine.begin((("system", "You play."), ("user", "Card: Q. What now?")))
    other = TransformersEngine(engine.lm)
    assert begun == other.begin(begun.messages)
    (call,) = engine.answer([Request(engine=engine, prompt=begun, guide=Steps([FREE] * 5), key=Key(3), extended=True)])
    after = engine.follow(call, "Your final action?")
    assert after == other.follow(call, "Your final action?")
    both(engine, lambda e: [Request(engine=e, prompt=after, guide=Steps([FREE]), key=Key(4))])


def test_kept_sets_come_with_the_tokens(engine):
    steps = [FREE, frozenset({4, 9}), [7, 8], FREE]
    for sampling in (Sampling(0.9, top_k=1), Sampling(1.0, 30, 0.9), Sampling(1.0, top_p=0.02)):
        (call,), (other,) = (
            e.answer([ask(e, [5], steps, sampling=sampling)]) for e in (engine, TransformersEngine(engine.lm))
        )
        assert call.allowed == other.allowed
        assert example_from_call(call).allowed == tuple(some for some in other.allowed if some is not None)


@pytest.mark.parametrize("name", MODES)
def test_moves_of_every_mode_equal_those_by_the_transformers_engine(engine, name):
    mode, game, style, sampling = MODES[name]
    seen = views(game, 4)
    found, expected = (moves(player(e, mode, style, sampling), seen) for e in (engine, TransformersEngine(engine.lm)))
    for one, other in zip(found, expected, strict=True):
        assert (one.action, one.how) == (other.action, other.how)
        same(one.calls, other.calls)


# --- scores


def nodes_of(request, call):
    """Nodes before every token of a reply, some of them masked."""
    return tuple(
        PolicyNode(call.tokens[:place], allowed or (3, 9, 700), allowed is not None or place % 2 == 0)
        for place, allowed in enumerate(request.guide.offered)
    )


def test_scores_equal_those_of_the_transformers_engine(engine):
    plain = TransformersEngine(engine.lm)
    given = [asked(plain, n) for n in range(12)]
    requests = [
        ScoreRequest(prompt=call.prompt, nodes=nodes_of(request, call), sampling=call.sampling)
        for request, call in zip(given, plain.answer(given), strict=True)
    ]
    expected = TransformersEngine(engine.lm).score(requests)
    for rows, others in zip(engine.score([*requests, *requests]), [*expected, *expected], strict=True):
        for row, other in zip(rows, others, strict=True):
            assert row == pytest.approx(other, abs=1e-4)
    assert engine.score([]) == []


# --- adapters


def test_batch_of_several_adapters_equals_the_transformers_engine(manned, opened):
    engine = opened(manned)
    for call in both(engine, lambda e: [asked(e, n, adapter=NAMES[n % 4]) for n in range(24)])[:4]:
        check_reply(manned, call)


def test_scores_of_several_adapters_are_their_own(manned, opened):
    engine = opened(manned, max_adapters=2)
    node = PolicyNode((), (8, 9, 10), True)
    requests = [ScoreRequest(prompt=Prompt((), (5, 6, 7)), nodes=(node,), adapter=name) for name in NAMES]
    found, expected = engine.score(requests), TransformersEngine(manned).score(requests)
    assert [row for (row,) in found] == [pytest.approx(row, abs=1e-4) for (row,) in expected]
    assert len(set(found)) == 4


def test_unknown_adapter_is_refused(manned, opened):
    engine = opened(manned)
    with pytest.raises(UnknownName, match="no adapter called 'nope'"):
        engine.answer([asked(engine, 1), asked(engine, 1, adapter="nope")])
    with pytest.raises(UnknownName, match="no adapter called 'nope'"):
        engine.score([ScoreRequest(prompt=Prompt((), (5,)), nodes=(PolicyNode((), (8,), True),), adapter="nope")])
    engine.reset_cache()


def test_published_weights_are_answered_by(manned, opened):
    engine = opened(manned)
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


def test_adapter_by_path_answers_as_it_did(manned, tmp_path, opened):
    save_adapter(manned, "two", tmp_path / "blue")
    engine, original = opened(load("tiny")), TransformersEngine(manned)
    save_adapter(manned, "one", tmp_path / "red")
    engine.load_adapter(str(tmp_path / "red"))
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


def test_adapter_of_another_base_is_refused(manned, tmp_path, opened, kind):
    if kind == "vllm-server":
        pytest.skip("a server of tiny refuses tiny-qwen itself")
    save_adapter(manned, "two", tmp_path / "blue")
    engine = opened(load("tiny-qwen"))
    with pytest.raises(StratagemError, match=r"was trained on tiny \(.*does not fit tiny-qwen"):
        engine.load_adapter(str(tmp_path / "blue"))
