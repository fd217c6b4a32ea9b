"""One round of 64 kuhn tables with `tiny`: milliseconds a decision, and the share spent outside the forward passes."""

from __future__ import annotations

import time
from collections.abc import Iterator

from engine_timing import Figure, ReaderPasses, Timing, count

from stratagem.games import Key, make_game
from stratagem.language.engines.reader import SharingReader
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.players.language import LanguagePlayer
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

TABLES = 64


def measure(repeats: int) -> Iterator[Figure]:
    """A match of one hand at every table, dealt anew in every repeat: with nothing computed before, then with all."""
    player = LanguagePlayer("tiny")
    engine = player.speaker.engine
    assert isinstance(engine, TransformersEngine)
    assert isinstance(engine.reader, SharingReader)
    match = Match(make_game("kuhn(hands=1)"), [player, player])
    _round(match, engine.reader, Key(-1))
    cold, warm = list[_Round](), list[_Round]()
    for repeat in range(repeats):
        engine.reset_cache()
        cold.append(_round(match, engine.reader, Key(repeat)))
        warm.append(_round(match, engine.reader, Key(repeat)))
    for name, rounds in (("nothing computed before", cold), ("all prompts met before", warm)):
        text = f"{TABLES} kuhn tables with tiny, {name}"
        yield Timing(tuple(one[0] for one in rounds)).figure(f"{text}: a decision", "ms", 1e3)
        yield Timing(tuple(one[1] for one in rounds)).figure(f"{text}: outside the forward passes", "ms", 1e3)
        yield Timing(tuple(one[1] / one[0] for one in rounds)).figure(f"{text}: share outside", "%", 100.0)
        yield count(f"{text}: forward passes", rounds[0][2], "passes")


_Round = tuple[float, float, int]
"""Seconds a decision, those of them outside the forward passes, and how many passes there were."""


def _round(match: Match, reader: SharingReader, key: Key) -> _Round:
    setups = list(rotate_seats(match, TABLES, key, name="bench"))
    start = time.perf_counter()
    with ReaderPasses(reader) as passes:
        decisions = sum(sum(episode.num_decisions) for episode in play(setups))
    spent = time.perf_counter() - start
    return spent / decisions, (spent - passes.seconds) / decisions, passes.count
