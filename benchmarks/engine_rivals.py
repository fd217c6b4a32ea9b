"""One grammar tool over a list of strings: compile times, time a step, and which strings it can reach, as JSON.

Runs where the tools are installed: `python engine_rivals.py TOOL FOLDER REPEATS`, the strings as a JSON list on stdin.
Every tool gets the form of the list that it compiles fastest, its defaults otherwise, and no cache of what it compiled.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import torch
from tokenizers import Tokenizer
from transformers import AutoTokenizer


class Walk(Protocol):
    """One reply under constraint; every tool writes its mask into 32-bit words."""

    mask: torch.Tensor

    def fill(self) -> object:
        """Write down what may come next."""

    def accept(self, token: int, /) -> object:
        """Go one token further."""


class XGrammar:
    """A compiled grammar in EBNF, and a matcher for each reply."""

    package = "xgrammar"

    def __init__(self, folder: Path, end: int) -> None:
        import xgrammar

        self.tool = xgrammar
        tokenizer = AutoTokenizer.from_pretrained(folder)
        self.info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, stop_token_ids=[end])
        self.compiler = xgrammar.GrammarCompiler(self.info, cache_enabled=False)

    def compile(self, strings: Sequence[str]) -> Any:
        return self.compiler.compile_grammar("root ::= " + " | ".join(map(json.dumps, strings)))

    def walk(self, compiled: Any) -> Walk:
        matcher, mask = self.tool.GrammarMatcher(compiled), self.tool.allocate_token_bitmask(1, self.info.vocab_size)
        return Bound(mask, lambda: matcher.fill_next_token_bitmask(mask), matcher.accept_token)


class LLGuidance:
    """A Lark grammar of one terminal, and a matcher that works its automaton out as it goes."""

    package = "llguidance"

    def __init__(self, folder: Path, end: int) -> None:
        import llguidance
        import llguidance.hf
        import llguidance.torch

        self.tool, self.torch = llguidance, llguidance.torch
        self.tokenizer = llguidance.hf.from_tokenizer(AutoTokenizer.from_pretrained(folder), eos_token=end)

    def compile(self, strings: Sequence[str]) -> Any:
        grammar = "start: ORDER\nORDER: " + " | ".join(map(json.dumps, strings))
        matcher = self.tool.LLMatcher(self.tokenizer, self.tool.LLMatcher.grammar_from_lark(grammar))
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def walk(self, compiled: Any) -> Walk:
        compiled.reset()
        matcher, mask = compiled, self.torch.allocate_token_bitmask(1, self.tokenizer.vocab_size)
        return Bound(mask, lambda: self.torch.fill_next_token_bitmask(matcher, mask), matcher.consume_token)


class OutlinesCore:
    """An index of a regular expression over the whole vocabulary, and a guide for each reply."""

    package = "outlines-core"

    def __init__(self, folder: Path, end: int) -> None:
        import outlines_core
        from outlines_core.kernels.torch import allocate_token_bitmask, fill_next_token_bitmask

        self.tool, self.fill, self.allocate = outlines_core, fill_next_token_bitmask, allocate_token_bitmask
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.size = tokenizer.get_vocab_size()
        self.vocabulary = outlines_core.Vocabulary(end, _spelt_bytes(tokenizer))

    def compile(self, strings: Sequence[str]) -> Any:
        return self.tool.Index("|".join(strings), self.vocabulary)

    def walk(self, compiled: Any) -> Walk:
        guide, mask = self.tool.Guide(compiled), self.allocate(self.size)
        accept: Callable[[int], object] = lambda token: guide.advance(token, return_tokens=False)  # noqa: E731
        return Bound(mask, lambda: self.fill(guide, mask), accept)


class OutlinesCoreLongestFirst(OutlinesCore):
    """The same, given the longer strings first: of two alternatives its expressions take the first that ends."""

    def compile(self, strings: Sequence[str]) -> Any:
        return super().compile(sorted(strings, key=len, reverse=True))


class Bound:
    """A walk as two functions over one mask."""

    def __init__(self, mask: torch.Tensor, fill: Callable[[], object], accept: Callable[[int], object]) -> None:
        self.mask, self.fill, self.accept = mask, fill, accept


TOOLS = {
    "xgrammar": XGrammar,
    "llguidance": LLGuidance,
    "outlines-core": OutlinesCore,
    "outlines-core-longest-first": OutlinesCoreLongestFirst,
}


def _spelt_bytes(tokenizer: Tokenizer) -> dict[bytes, list[int]]:
    """The bytes of every token of a byte-level vocabulary, special ones left out."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    byte_of = {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    found: dict[bytes, list[int]] = {}
    for text, token in tokenizer.get_vocab().items():
        if text not in special:
            found.setdefault(bytes(byte_of[char] for char in text), []).append(token)
    return found


def allows(walk: Walk, token: int) -> bool:
    """Return whether the mask has a place for the token."""
    return bool(int(walk.mask.flatten()[token // 32]) >> token % 32 & 1)


def reaches(walk: Walk, tokens: Sequence[int], end: int) -> bool:
    """Return whether these tokens can be written one after the other, and the reply can end after them."""
    for token in tokens:
        walk.fill()
        if not allows(walk, token):
            return False
        walk.accept(token)
    walk.fill()
    return allows(walk, end)


def step_seconds(tool: Any, compiled: Any, rows: Sequence[Sequence[int]]) -> float:
    """Seconds to fill the mask and take one token, over whole replies; making a matcher is not counted."""
    spent = 0.0
    for tokens in rows:
        walk = tool.walk(compiled)
        start = time.perf_counter()
        for token in tokens:
            walk.fill()
            walk.accept(token)
        spent += time.perf_counter() - start
    return spent / sum(map(len, rows))


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came out."""
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


def once(tool: Any, strings: Sequence[str], rows: Sequence[Sequence[int]]) -> tuple[float, float, float]:
    """Seconds to compile, to compile and fill the first mask, and of a step after that."""
    seconds, compiled = timed(lambda: tool.compile(strings))
    first, _ = timed(lambda: tool.walk(compiled).fill())
    return seconds, seconds + first, step_seconds(tool, compiled, rows)


def measure(name: str, folder: Path, repeats: int, strings: Sequence[str], end: int) -> dict[str, Any]:
    """Everything about one tool."""
    ready, tool = timed(lambda: TOOLS[name](folder, end))
    rows = [row.ids for row in Tokenizer.from_file(str(folder / "tokenizer.json")).encode_batch(list(strings))]
    compiled = tool.compile(strings)
    reached = [tokens for tokens in rows if reaches(tool.walk(compiled), tokens, end)]
    repeated = [once(tool, strings, reached) for _ in range(repeats)]
    compiles, firsts, steps = zip(*repeated, strict=True)
    found = {"compile": compiles, "first mask": firsts, "step": steps, "reached": len(reached), "set-up": ready}
    return {**found, "version": version(tool.package)}


def main() -> None:
    """Print the figures of one tool."""
    name, folder, repeats, end = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    print(json.dumps(measure(name, folder, repeats, json.load(sys.stdin), end)))


if __name__ == "__main__":
    main()
