"""Checks of prompts and replies: cut ones, tokens outside their set, and sets that differ between equal situations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from stratagem.playing.store import read_columns
from stratagem.show.viewer.checks.base import CheckResult, DefectiveDecision, Source, faulty
from stratagem.show.viewer.decision_index import ShardIndex
from stratagem.show.viewer.episode_index import Array
from stratagem.show.viewer.prompts import ShardPrompts, prompts_of

_KEY = ("episode", "turn", "seat", "attempt", "index")
_SETS = ("tokens", "allowed", "allowed_counts", "spans", "prompt")


def mask(source: Source) -> CheckResult:
    """Look for tokens outside the set that they were sampled from, and for sets that differ after equal prompts."""
    places, seen = list[DefectiveDecision](), 0
    for shard in source.shards:
        calls = read_columns(shard.folder, "calls", shard.number, (*_KEY, *_SETS))
        rows = shard.rows_behind(calls)
        columns = [calls[name].to_pylist() for name in _SETS]
        first: dict[str, set[int]] = {}
        for row, values in zip(rows, zip(*columns, strict=True), strict=True):
            seen += any(count >= 0 for count in values[2])
            if row >= 0 and (sentence := _outside(*values[:4]) or _differs(first, *values)):
                places.append(DefectiveDecision(shard.where(int(row)), sentence))
    if not seen:
        return CheckResult("not checked", "No reply was sampled from a limited set.")
    return faulty(
        places,
        "Tokens are outside the set of legal tokens, or the set differs between equal prompts: the mask is wrong.",
        f"All tokens of {seen:,} replies are inside the sets that they were sampled from.",
    )


def _sets(allowed: list[int], counts: list[int]) -> Iterator[set[int] | None]:
    """Yield the allowed set of each token; None where it is not stored as a list."""
    start = 0
    for count in counts:
        yield None if count < 0 else set(allowed[start : start + count])
        start += max(count, 0)


def _outside(tokens: list[int], allowed: list[int], counts: list[int], spans: list[dict[str, Any]]) -> str:
    """Return a sentence about the first token that is not in its set; empty where there is none."""
    own = {place for span in spans if span["kind"] == "sampled" for place in range(span["start"], span["end"])}
    for place, (token, some) in enumerate(zip(tokens, _sets(allowed, counts), strict=False)):
        if place in own and some is not None and token not in some:
            return f"Token {place + 1}, id {token}, is not one of the {len(some)} tokens that were allowed."
    return ""


def _differs(
    first: dict[str, set[int]],
    tokens: list[int],
    allowed: list[int],
    counts: list[int],
    spans: list[dict[str, Any]],
    prompt: str,
) -> str:
    """Return a sentence where the set of the first token is another than after the same prompt before."""
    some = next(_sets(allowed, counts), None)
    if some is None or not spans:
        return ""
    before = first.setdefault(prompt, some)
    if before == some:
        return ""
    return f"{len(some)} tokens were allowed at first, and {len(before)} after the same prompt before."


def length(source: Source) -> CheckResult:
    """Look for replies that `max_new_tokens` cut off."""
    places, seen = list[DefectiveDecision](), 0
    for shard in source.shards:
        calls = read_columns(shard.folder, "calls", shard.number, (*_KEY, "finish"))
        seen += len(calls)
        cut = np.array([finish == "length" for finish in calls["finish"].to_pylist()], dtype=bool)
        places += [
            DefectiveDecision(shard.where(row), "Cut off by `max_new_tokens`.") for row in _rows(shard, calls, cut)
        ]
    if not seen:
        return CheckResult("not checked", "There is no reply of a model.")
    return faulty(places, "Replies were cut off by `max_new_tokens`.", f"None of {seen:,} replies was cut off.")


def _rows(shard: ShardIndex, calls: pa.Table, some: Array) -> list[int]:
    rows = shard.rows_behind(calls)[some]
    return [int(row) for row in rows if row >= 0]


def cut(source: Source) -> CheckResult:
    """Look for prompts that break off where others go on, and for tokens that the engine did not read."""
    places, seen = list[DefectiveDecision](), 0
    for shard in source.shards:
        prompts = prompts_of(shard.folder, shard.number)
        calls = read_columns(shard.folder, "calls", shard.number, (*_KEY, "prompt", "num_prompt"))
        rows, names, numbers = shard.rows_behind(calls), calls["prompt"].to_pylist(), calls["num_prompt"].to_pylist()
        seen += len(prompts.messages)
        known = {name: _describe_broken(prompts, name) for name in prompts.messages}
        for row, name, number in zip(rows, names, numbers, strict=True):
            told = known.get(name) or _describe_unread(prompts.num_tokens.get(name, 0), number)
            if row >= 0 and told:
                places.append(DefectiveDecision(shard.where(int(row)), told))
    if not seen:
        return CheckResult("not checked", "There is no prompt.")
    return faulty(places, "Prompts were cut.", f"None of {seen:,} prompts breaks off.")


def _describe_broken(prompts: ShardPrompts, name: str) -> str:
    line = prompts.lines[prompts.kinds[name]].cut(prompts.messages[name])
    return f"The prompt breaks off, and lacks {line[:60]!r}." if line else ""


def _describe_unread(tokens: int, number: int) -> str:
    return f"The engine read {number} of {tokens} prompt tokens." if 0 < number < tokens else ""
