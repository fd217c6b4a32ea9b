"""Check of prompts that were cut."""

from __future__ import annotations

from stratagem.play.store import read_columns
from stratagem.viewer.checks.base import Found, Place, Source, faulty
from stratagem.viewer.prompts import Prompts, prompts_of

_KEY = ("episode", "turn", "seat", "attempt", "index")


def cut(source: Source) -> Found:
    """Look for prompts that break off where others go on, and for tokens that the engine did not read."""
    places, seen = list[Place](), 0
    for shard in source.shards:
        prompts = prompts_of(shard.folder, shard.number)
        calls = read_columns(shard.folder, "calls", shard.number, (*_KEY, "prompt", "num_prompt"))
        rows, names, numbers = shard.rows_behind(calls), calls["prompt"].to_pylist(), calls["num_prompt"].to_pylist()
        seen += len(prompts.messages)
        known = {name: _broken(prompts, name) for name in prompts.messages}
        for row, name, number in zip(rows, names, numbers, strict=True):
            told = known.get(name) or _unread(prompts.num_tokens.get(name, 0), number)
            if row >= 0 and told:
                places.append(Place(shard.where(int(row)), told))
    if not seen:
        return Found("not checked", "There is no prompt.")
    return faulty(places, "Prompts were cut.", f"None of {seen:,} prompts breaks off.")


def _broken(prompts: Prompts, name: str) -> str:
    line = prompts.lines[prompts.kinds[name]].cut(prompts.messages[name])
    return f"The prompt breaks off, and lacks {line[:60]!r}." if line else ""


def _unread(tokens: int, number: int) -> str:
    return f"The engine read {number} of {tokens} prompt tokens." if 0 < number < tokens else ""
