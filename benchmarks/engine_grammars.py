"""500 legal strings as a constraint: compiling, a step, and reach, against xgrammar, llguidance and outlines-core."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from engine_orders import strings
from engine_timing import Figure, Timing, count, race

from stratagem.games.choices import Flat
from stratagem.language.decoding.spelling import spell
from stratagem.language.decoding.vocabulary import Ids, Vocabulary
from stratagem.language.decoding.walker import Cursor, Walker
from stratagem.language.models.smollm2 import smollm2_folder

TOOLS = ("xgrammar", "llguidance", "outlines-core", "outlines-core-longest-first")


def measure(vocabulary: Vocabulary, repeats: int, rivals: str | None) -> Iterator[Figure]:
    """Ours here, every tool in its own process under the Python that has them."""
    legal = strings()
    walker, compiling = _compile(vocabulary, legal, repeats)
    yield compiling.figure(f"{len(legal)} orders: ours, compile", "ms", 1e3)
    yield from _steps(vocabulary, legal, repeats)
    reached = sum(_said(walker, ids) == order for order, ids in zip(legal, _spelt(walker, legal), strict=True))
    yield count(f"{len(legal)} orders: ours, reached", reached, "orders", f"{len(legal)}")
    for tool in TOOLS if rivals else ():
        yield from _rival(tool, legal, [str(rivals), str(vocabulary.end), str(repeats)], compiling)


def _new(vocabulary: Vocabulary, legal: Sequence[str]) -> Walker:
    """Compiled by a vocabulary that has spelt nothing before."""
    vocabulary.spelt.clear()
    return Walker(Flat(legal), vocabulary)


def _compile(vocabulary: Vocabulary, legal: Sequence[str], repeats: int) -> tuple[Walker, Timing]:
    made: list[Walker] = []
    found = race({"ours": lambda: made.append(_new(vocabulary, legal))}, repeats)
    return made[-1], found["ours"]


def _spelt(walker: Walker, legal: Sequence[str]) -> list[Ids]:
    return spell(walker.vocabulary, legal, walker.left)


def _steps(vocabulary: Vocabulary, legal: Sequence[str], repeats: int) -> Iterator[Figure]:
    """Whole replies, one after the other, in a trie that nobody has walked yet."""
    every = [_new(vocabulary, legal) for _ in range(2 * repeats)]
    rows = _spelt(every[0], legal)
    found = race(
        {"step": lambda: _all(_step, every.pop(), rows), "run": lambda: _all(_run, every.pop(), rows)}, repeats
    )
    scale = 1e6 / sum(map(len, rows))
    yield found["step"].figure(f"{len(legal)} orders: ours, a step (allowed, advance)", "us a row", scale, "below 25")
    yield found["run"].figure(f"{len(legal)} orders: ours, a token with forced runs", "us a row", scale)


def _all(walk: Callable[[Cursor, Ids], None], walker: Walker, rows: Sequence[Ids]) -> None:
    for ids in rows:
        walk(walker.start(), ids)


def _step(cursor: Cursor, ids: Ids) -> None:
    for token in ids:
        assert cursor.allowed
        cursor.advance(token)


def _run(cursor: Cursor, ids: Ids) -> None:
    """As an engine walks: take what is forced, choose among what is allowed."""
    while not cursor.done and len(cursor.tokens) < len(ids):
        for token in cursor.forced:
            cursor.advance(token)
        if not cursor.done and len(cursor.tokens) < len(ids):
            assert cursor.allowed
            cursor.advance(ids[len(cursor.tokens)])


def _said(walker: Walker, ids: Ids) -> str | None:
    """Return the text of a reply if every token is allowed and the reply can end there."""
    cursor = walker.start()
    for token in ids:
        if token not in cursor.allowed:
            return None
        cursor.advance(token)
    if walker.end in cursor.allowed:
        cursor.advance(walker.end)
    return cursor.action


def _rival(tool: str, legal: Sequence[str], given: Sequence[str], ours: Timing) -> Iterator[Figure]:
    python, end, repeats = given
    script = Path(__file__).with_name("engine_rivals.py")
    command = [python, str(script), tool, str(smollm2_folder()), repeats, end]
    run = subprocess.run(command, input=json.dumps(legal), capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    compiling, name = Timing(found["compile"]), f"{len(legal)} orders: {tool} {found['version']}"
    asked = "at least 1" if tool == "xgrammar" else ""
    yield compiling.figure(f"{name}, compile", "ms", 1e3)
    yield Timing(found["first mask"]).figure(f"{name}, compile and first mask", "ms", 1e3)
    yield ours.times(compiling, f"{name}, its compile time over ours", asked)
    yield Timing(found["step"]).figure(f"{name}, a step (fill the mask, accept)", "us a row", 1e6)
    yield count(f"{name}, reached", found["reached"], "orders")
