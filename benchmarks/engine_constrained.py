"""Forward passes of a constrained reply with its forced runs, against unconstrained generation of the same orders."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import engine_grammars
import torch
from engine_orders import sheet, strings
from engine_replies import fresh, theirs
from engine_timing import Figure, Passes, ReaderPasses, Timing, count
from transformers import LogitsProcessor, LogitsProcessorList

from stratagem.games.choices import Choices, Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.decoding.walker import Walker
from stratagem.language.engines.base import Call, Prompt, Request
from stratagem.language.engines.reader import SharingReader
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.load import load

REPLIES, SHEETS, UNITS = 24, 4, 5


class Dictated(LogitsProcessor):
    """Makes an unconstrained sampler say given tokens, so that it generates the same reply in its own time."""

    def __init__(self, tokens: Ids) -> None:
        self.rest = list(tokens)

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        scores[:, self.rest.pop(0)] = torch.finfo(scores.dtype).max
        return scores


def measure(repeats: int, rivals: str | None) -> Iterator[Figure]:
    """First what needs no model, then replies."""
    lm = load("smollm2")
    engine = fresh(lm)
    yield from engine_grammars.measure(engine.vocabulary, repeats, rivals)
    yield from _passes(engine, "one order of 500", Flat(strings()), REPLIES)
    units = random.Random(0).sample(sorted(sheet().items()), UNITS)
    slots = [Slot(unit, tuple(options)) for unit, options in units]
    yield from _passes(engine, f"orders for {UNITS} units", Sheet(slots), SHEETS)


def _passes(engine: TransformersEngine, name: str, choices: Choices, replies: int) -> Iterator[Figure]:
    """Replies one by one, each said again by `generate` with the token that ends it."""
    lm = engine.lm
    assert isinstance(engine.reader, SharingReader)
    prompt = engine.begin((("user", "You command the French units. Give your orders, one a line, and no other word."),))
    walker = Walker(choices, engine.vocabulary)
    engine.answer([_request(engine, prompt, walker, -1)])
    ours, others, seconds, tokens = ReaderPasses(engine.reader), Passes(lm.model), list[tuple[float, float]](), 0
    for reply in range(replies):
        engine.reset_cache()
        start = time.perf_counter()
        with ours:
            (call,) = engine.answer([_request(engine, prompt, walker, reply)])
        middle = time.perf_counter()
        said = _with_end(call, walker.end)
        with others:
            (again,) = theirs(lm, [prompt.tokens], len(said), logits_processor=LogitsProcessorList([Dictated(said)]))
        assert again == said
        tokens += len(said)
        seconds.append((middle - start, time.perf_counter() - middle))
    yield count(f"{name}: passes a reply, ours", ours.count / replies, "passes")
    yield count(f"{name}: passes a reply, generate of the same tokens", others.count / replies, "passes")
    yield count(f"{name}: times fewer passes", others.count / ours.count, "times", "at least 3")
    mine, generate = (Timing(tuple(side)) for side in zip(*seconds, strict=True))
    yield mine.figure(f"{name}: a reply, ours", "ms", 1e3)
    yield generate.figure(f"{name}: a reply, generate of the same tokens", "ms", 1e3)
    yield mine.times(generate, f"{name}: times as fast as generate")


def _request(engine: TransformersEngine, prompt: Prompt, walker: Walker, reply: int) -> Request:
    return Request(engine=engine, prompt=prompt, guide=walker.start(), key=Key(7).at("reply", reply))


def _with_end(call: Call, end: int) -> Ids:
    return call.tokens if call.tokens[-1] == end else (*call.tokens, end)
