"""Check of prompts that were cut."""

from __future__ import annotations

from stratagem.playing.store import read_columns
from stratagem.show.viewer.checks.base import CheckResult, DefectiveDecision, Source, faulty
from stratagem.show.viewer.prompts import ShardPrompts, prompts_of

_KEY = ("episode", "turn", "seat", "attempt", "index")


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
