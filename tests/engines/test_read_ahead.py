"""Candidates that are read ahead change the number of passes, and no reply."""

from collections.abc import Sequence
from itertools import product

import pytest
import torch
from numbered import said
from plainly import check_reply
from test_replies_of_players import MODES, moves, player, views

from stratagem.games.choices import Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.language.decoding.walker import Walker
from stratagem.language.engines import ahead, reader, transformers_engine
from stratagem.language.engines.ahead import PASS, branches_of
from stratagem.language.engines.base import LIKELIEST, PLAIN, Prompt, Request, Sampling
from stratagem.language.engines.noise import gumbel, gumbel_of, seeds
from stratagem.language.engines.reply import Reply
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.transformers_settings import TransformersSettings

PLACES = ("PAR", "BUR", "BRE", "GAS", "MAR")
ORDERS = [f"{unit} {place}{more}" for unit in "AF" for place in PLACES for more in (" H", " S", " S BUR", " - MAR VIA")]
CHOICES = {
    "flat": Flat(ORDERS),
    "sheet": Sheet([Slot(unit, tuple(order for order in ORDERS if order[0] == unit)) for unit in "AF"]),
}


@pytest.fixture
def one_by_one(monkeypatch):
    """Make engines read no candidates within."""

    def read(lm, ask):
        with monkeypatch.context() as patched:
            patched.setattr(transformers_engine, "branches_of", lambda *_: ahead.Branches())
            engine = TransformersEngine(lm)
            return ask(engine), engine.reader.num_passes

    return read


def asked(engine, choices, number, sampling=PLAIN, **more):
    guide = Walker(choices, engine.vocabulary).start()
    prompt = Prompt((), tuple(range(5, 30 + number)))
    return Request(engine=engine, prompt=prompt, guide=guide, key=Key(number), sampling=sampling, **more)


def same(calls: Sequence, others: Sequence):
    assert [said(call) for call in calls] == [said(call) for call in others]
    for call, other in zip(calls, others, strict=True):
        assert call.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-4)


SHARING = [*product(("tiny", "tiny-qwen", "tiny-gemma"), (PLAIN, LIKELIEST, Sampling(0.7, top_k=3, top_p=0.9)))]


@pytest.mark.parametrize(("kind", "sampling"), [*SHARING, ("tiny-qwen3.5", PLAIN)], ids=str)
@pytest.mark.parametrize("choices", CHOICES)
def test_replies_are_the_same_with_and_without(models, one_by_one, choices, kind, sampling):
    """Alone and in small batches; some are cut off, some will be extended.

    The last kind reads nothing ahead, whatever the sampling.
    """
    lm, numbers = models[kind], range(6)

    def ask(engine):
        more = [{"max_new_tokens": 3} if n == 2 else {"extended": n == 3} for n in numbers]
        requests = [asked(engine, CHOICES[choices], n, sampling, **more[n]) for n in numbers]
        return [*engine.answer(requests[:1]), *engine.answer(requests[1:4]), *engine.answer(requests[4:])]

    expected, passes = one_by_one(lm, ask)
    engine = TransformersEngine(lm)
    calls = ask(engine)
    same(calls, expected)
    check_reply(lm, calls[3])
    assert (engine.reader.num_passes < passes) == engine.reader.ragged


@pytest.mark.parametrize("mode", ["direct", "free", "recover", "constrained", "constrained by brackets", "single"])
def test_every_mode_moves_the_same_with_and_without(tiny, one_by_one, mode):
    kind, game, style, sampling = MODES[mode]
    seen = views(game, 4)

    def ask(engine):
        return [call for move in moves(player(engine, kind, style, sampling), seen) for call in move.calls]

    expected, _ = one_by_one(tiny, ask)
    same(ask(TransformersEngine(tiny)), expected)


def test_replies_are_the_same_where_prompts_are_read_in_several_passes(lm, one_by_one, monkeypatch):
    """Prompts of one length stand together, each with the branches that are its own."""

    def ask(engine):
        return engine.answer([asked(engine, CHOICES["sheet" if n % 3 else "flat"], n) for n in (1, 3, 2, 6, 4, 5)])

    expected, _ = one_by_one(lm, ask)
    monkeypatch.setattr(reader, "PASS_TOKENS", 100)
    same(ask(TransformersEngine(lm)), expected)


@pytest.mark.parametrize("packed", [0, 4096])
def test_a_single_reply_takes_a_third_of_the_passes(tiny, packed):
    engine = TransformersEngine(tiny, TransformersSettings(packed_weights_mib=packed))
    tokens = passes = 0
    for number in range(6):
        engine.reset_cache()
        before = engine.reader.num_passes
        (call,) = engine.answer([asked(engine, CHOICES["sheet"], number)])
        tokens, passes = tokens + len(call.tokens), passes + engine.reader.num_passes - before
    assert 3 * passes <= tokens


def test_what_was_read_ahead_after_a_prompt_is_kept(small):
    request = asked(small, CHOICES["flat"], 1)
    (first,) = small.answer([request])
    before = small.reader.num_passes
    (again,) = small.answer([asked(small, CHOICES["flat"], 1)])
    assert said(again) == said(first)
    assert small.reader.num_passes - before < before


def test_many_rows_read_nothing_ahead(small):
    reply = Reply(asked(small, CHOICES["flat"], 1))
    assert len(branches_of(reply, PASS)) > 0
    assert not branches_of(reply, PASS / 32)


def test_few_tokens_are_read_ahead_and_each_may_follow(small):
    reply = Reply(asked(small, CHOICES["sheet"], 1))
    reply.take_forced()
    branches = branches_of(reply, 1000.0)
    assert 10 < len(branches) <= 48
    for end in branches.asked:
        guide = reply.request.guide.fork()
        for place in branches.path(end):
            assert branches.tokens[place] in guide.allowed
            guide.advance(branches.tokens[place])
        assert len(guide.allowed) > 1


def test_noise_without_a_tensor_is_the_same():
    tokens, keys = [0, 1, 17, 49151, 200_000], [Key(number).at("reply") for number in range(20)]
    for index, key in enumerate(keys):
        noise = gumbel(seeds([key], [index], "cpu"), torch.tensor([tokens]))[0].tolist()
        assert gumbel_of(key, index, tokens) == pytest.approx(noise, abs=1e-4)
