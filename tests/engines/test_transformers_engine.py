"""The engine on one machine: what it answers does not depend on what else it is asked, and it reads what it must."""

import pytest
from numbered import FREE, Steps, asked, said
from plainly import check_reply

from stratagem.base.errors import BadParameter
from stratagem.games.key import Key
from stratagem.language.engines.base import PLAIN, Prompt, Request, Sampling
from stratagem.language.engines.transformers_engine import TransformersEngine, width_for
from stratagem.language.engines.transformers_settings import TransformersSettings

CONTEXT = 60
PLAINEST = pytest.mark.parametrize("lm", ["tiny", "tiny-qwen3.5"], indirect=True)
"""One model for each way of reading."""


@pytest.fixture
def short(small):
    """The same, as if the model could read no more than this."""
    assert small.longest == 8192
    small.longest = CONTEXT
    return small


def prompt(*tokens):
    return Prompt((), tokens)


def ask(engine, tokens, steps, number=0, **more):
    return Request(engine=engine, prompt=prompt(*tokens), guide=Steps(steps), key=Key(number), **more)


def close(some, others):
    """Return whether calls are the same, to rounding."""
    assert [said(call) for call in some] == [said(call) for call in others]
    for one, other in zip(some, others, strict=True):
        assert one.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-4)


# --- the same request is the same reply


def test_a_reply_is_the_same_alone_or_among_many(engine):
    numbers = range(40 if engine.name == "tiny" else 12)
    together = engine.answer([asked(engine, n) for n in numbers])
    lonely = TransformersEngine(engine.lm, TransformersSettings(prefix_cache_mib=0))
    close(together, [lonely.answer([asked(lonely, n)])[0] for n in numbers])
    assert len({call.tokens for call in together}) > len(numbers) // 2


@PLAINEST
def test_in_waves_backwards_and_from_a_warm_memory_it_is_the_same(engine):
    numbers = range(16)
    together = engine.answer([asked(engine, n) for n in numbers])
    close(together, engine.answer([asked(engine, n) for n in numbers]))
    few = TransformersEngine(engine.lm, TransformersSettings(rows=5))
    close(together, few.answer([asked(few, n) for n in reversed(numbers)])[::-1])


@PLAINEST
def test_the_same_batch_is_the_same_to_the_bit(engine):
    other = TransformersEngine(engine.lm)
    for numbers in (range(12), range(6, 18)):
        one, two = [e.answer([asked(e, n) for n in numbers]) for e in (engine, other)]
        assert [(said(call), call.sampler_logprobs) for call in one] == [(said(c), c.sampler_logprobs) for c in two]


def test_another_key_is_another_reply(small):
    calls = small.answer([ask(small, [5, 6], [FREE] * 4, number) for number in range(64)])
    assert len({call.tokens for call in calls}) == 64


# --- what is stored


def test_every_stored_logprob_is_that_of_a_plain_pass(engine):
    kinds = {
        kind for call in engine.answer([asked(engine, n) for n in range(16)]) for kind in check_reply(engine.lm, call)
    }
    assert kinds == {"sampled", "forced", "argmax"}


def test_what_is_forced_is_never_drawn(small):
    steps = [[7, 8, 9], frozenset({4}), FREE, [1, 2], [3], frozenset({5, 6}), [9]]
    (call,) = small.answer([ask(small, [5], steps, sampling=Sampling(0.5))])
    assert [tuple(span) for span in call.spans] == [
        ("forced", 0, 3), ("sampled", 3, 5), ("forced", 5, 8), ("sampled", 8, 9), ("forced", 9, 10)]  # fmt: skip
    assert call.tokens[:4] == (7, 8, 9, 4)
    assert call.tokens[5:8] == (1, 2, 3)
    assert call.sampler_logprobs[3] == 0.0
    assert [place for place, logprob in enumerate(call.sampler_logprobs) if logprob] == [4, 8]
    assert call.allowed == (None, None, None, (4,), None, None, None, None, (5, 6), None)


def test_what_is_forced_throughout_asks_no_model(small):
    (call,) = small.answer([ask(small, [5, 6], [[7, 8, 9]])])
    assert (call.tokens, call.finish, small.reader.num_passes) == ((7, 8, 9), "done", 0)


def test_a_reply_says_whose_it_is_and_how_long(small):
    (call,) = small.answer([ask(small, [5, 6, 7], [FREE] * 4)])
    assert call.policy == ("tiny", "", 0)
    assert (call.num_prompt, call.num_reply, call.finish, call.sampling) == (3, 4, "done", PLAIN)
    assert call.text == small.lm.decode(call.tokens)
    assert call.ms > 0.0


# --- how much is read


def test_equal_prompts_are_read_once(small):
    calls = small.answer([ask(small, range(10, 60), [FREE], number) for number in range(32)])
    assert small.reader.num_tokens == 50
    assert len({call.tokens for call in calls}) > 10
    small.answer([ask(small, range(10, 60), [FREE], number) for number in range(32)])
    assert small.reader.num_tokens == 50


def test_requests_that_begin_alike_are_answered_together(tiny, monkeypatch):
    """Whatever order they came in: by adapter, then by prompt, and those of one prompt as they came."""
    engine, read = TransformersEngine(tiny, TransformersSettings(rows=2)), []
    plain = engine.reader.read
    monkeypatch.setattr(engine.reader, "read", lambda texts, *more: read.append(texts) or plain(texts, *more))
    prompts = [(30, 31, 32), (10, 11, 12), (20, 21), (30, 31, 32), (10, 11, 12), (10, 11, 40)]
    calls = engine.answer([ask(engine, tokens, [frozenset({7, 8})], n) for n, tokens in enumerate(prompts)])
    assert [call.prompt.tokens for call in calls] == prompts
    assert [[text.tokens for text in texts] for texts in read] == [
        [(10, 11, 12)],
        [(10, 11, 40), (20, 21)],
        [(30, 31, 32)],
    ]


def test_what_is_finished_leaves_at_once(engine):
    steps = [[FREE] * length for length in (1, 2, 5, 9)]
    calls = engine.answer([ask(engine, [number, 50], own, number) for number, own in enumerate(steps)])
    assert [len(call.tokens) for call in calls] == [1, 2, 5, 9]
    assert engine.reader.num_tokens == 4 * 2 + sum(len(own) - 1 for own in steps)
    assert engine.reader.num_passes == 9


def test_a_forced_run_is_read_in_one_pass(small):
    small.answer([ask(small, [5, 6], [FREE, list(range(20, 60)), FREE])])
    assert (small.reader.num_passes, small.reader.num_tokens) == (2, 2 + 41)


@pytest.mark.parametrize(
    ("pending", "width"), [([1], 1), ([40], 40), ([1] * 9, 1), ([1, 1, 1, 40], 40), ([1] * 60 + [40], 1), ([3, 3], 3)]
)
def test_how_wide_a_pass_is(pending, width):
    assert width_for(pending) == width


# --- the end of a reply


@PLAINEST
@pytest.mark.parametrize("most", [1, 2, 8])
def test_a_reply_that_never_stops_is_cut(engine, most):
    calls = engine.answer(
        [ask(engine, [5], steps, max_new_tokens=most) for steps in ([FREE] * 99, [[7] * 99], [FREE, [3] * 99])]
    )
    assert [(len(call.tokens), call.finish) for call in calls] == [(most, "length")] * 3
    for call in calls:
        check_reply(engine.lm, call)


@pytest.mark.parametrize("steps", [[FREE], [[5, 6], FREE], [frozenset({5, 6})]], ids=["free", "forced", "set"])
@pytest.mark.parametrize("length", [0, CONTEXT, CONTEXT + 500])
def test_a_prompt_that_cannot_be_read_is_an_error_and_no_other_reply_suffers(short, length, steps):
    if length == 0 and isinstance(steps[0], list):
        return
    good = [asked(short, n) for n in range(6)]
    calls = short.answer([*good[:3], ask(short, [7] * length, steps), *good[3:]])
    bad = calls.pop(3)
    assert (bad.finish, bad.tokens, bad.spans, bad.num_prompt) == ("error", (), (), length)
    assert bad.text == f"The prompt has {length} tokens, and tiny reads from 1 to {CONTEXT - 1}."
    close(calls, short.answer([asked(short, n) for n in range(6)]))


def test_a_prompt_of_nothing_with_a_forced_beginning_is_read(short):
    (call,) = short.answer([ask(short, [], [[5, 6], FREE])])
    assert call.finish == "done"
    assert call.tokens[:2] == (5, 6)


@pytest.mark.parametrize(("option", "value", "low"), [("rows", -1, 0), ("prefix_cache_mib", -1, 0)])
def test_settings_out_of_bounds_are_refused(option, value, low):
    with pytest.raises(BadParameter, match=f"needs `{option}` of at least {low}, a whole number, not {value}"):
        TransformersSettings(**{option: value})


# --- going on from a reply


def test_a_later_prompt_goes_on_from_what_was_said(engine):
    begun = engine.begin((("system", "You play."), ("user", "Card: Q. What now?")))
    end = min(engine.ends)
    for steps, kept in (([FREE] * 5, 5), ([FREE, FREE, [end]], 2), ([[end, 9, end, end]], 2)):
        request = Request(engine=engine, prompt=begun, guide=Steps(steps), key=Key(3), extended=True)
        (call,) = engine.answer([request])
        after = engine.follow(call, "Your final action?")
        assert after.messages == (*begun.messages, ("assistant", call.text), ("user", "Your final action?"))
        assert after.tokens[: len(begun.tokens) + kept] == begun.tokens + call.tokens[:kept]
        rest = engine.lm.decode(after.tokens[len(begun.tokens) + kept :])
        assert rest.strip() == "Your final action?"
        if kept == 5:
            before = engine.reader.num_tokens
            engine.answer([Request(engine=engine, prompt=after, guide=Steps([FREE]), key=Key(4))])
            new = len(after.tokens) - (len(begun.tokens) + kept if engine.reader.ragged else 0)
            assert engine.reader.num_tokens - before == new


def test_plain_words_follow_as_the_template_has_them(small):
    """Where tokens are as the tokenizer would cut them, the followed prompt is the whole conversation's."""
    begun = small.begin((("user", "Card: Q."),))
    reply = small.vocabulary.encode("I PASS")
    (call,) = small.answer([Request(engine=small, prompt=begun, guide=Steps([[*reply, 6]]), key=Key(1))])
    assert small.follow(call, "And now?") == small.begin(
        (("user", "Card: Q."), ("assistant", "I PASS"), ("user", "And now?"))
    )


def test_only_what_is_to_be_extended_is_kept(small):
    for extended, read in ((False, 2 + 4), (True, 2)):
        (call,) = small.answer([ask(small, [7, 8 + extended], [FREE] * 4, extended=extended)])
        before = small.reader.num_tokens
        small.answer([ask(small, [*call.prompt.tokens, *call.tokens, 8, 9], [FREE])])
        assert small.reader.num_tokens - before == read
