"""Checks of prompts: prompts that were cut, and prompts that differ by what their seat must not know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from stratagem.errors import StratagemError
from stratagem.play.forks import steps
from stratagem.play.records import Episode
from stratagem.play.store import read_columns
from stratagem.viewer.checks.base import Found, Place, Source, faulty
from stratagem.viewer.decision_index import ShardIndex
from stratagem.viewer.prompts import Prompts, prompts_of
from stratagem.viewer.replays import load_episode

_KEY = ("episode", "turn", "seat", "attempt", "index")
_SETS, _REPLAYED = 12, 40
"""Number of information sets a shard, and of episodes each, that are played again."""


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


def leak(source: Source) -> Found:
    """Look for information sets whose prompts differ, each going with another hidden part of the state."""
    places, seen = list[Place](), 0
    for shard in source.shards:
        for rows_by_prompt in islice(_varied(shard), _SETS):
            seen += 1
            places += _leaks(shard, rows_by_prompt)
    if not any(len(prompts_of(shard.folder, shard.number).messages) for shard in source.shards):
        return Found("not checked", "There is no prompt.")
    told = f"{seen} information sets had several prompts; none of them goes with what is hidden." if seen else ""
    return faulty(
        places,
        "Seats read what they must not know: equal information sets have other prompts when other things are hidden.",
        told or "Seats with equal information read equal prompts.",
    )


def _varied(shard: ShardIndex) -> Iterator[dict[str, list[int]]]:
    """Yield the decisions by prompt of each information set that has several."""
    calls = read_columns(shard.folder, "calls", shard.number, (*_KEY, "prompt"))
    keys = read_columns(shard.folder, "decisions", shard.number, ("info_key",))["info_key"].to_pylist()
    rows, names = shard.rows_behind(calls), calls["prompt"].to_pylist()
    firsts = (calls["index"].to_numpy() == 0) & (calls["attempt"].to_numpy() == 0) & (rows >= 0)
    groups: dict[Any, dict[str, list[int]]] = defaultdict(dict)
    for place in np.flatnonzero(firsts).tolist():
        row = int(rows[place])
        group = (int(shard.player.codes[row]), int(shard.game.codes[row]), int(shard.seat[row]), keys[row])
        groups[group].setdefault(names[place], []).append(row)
    yield from (group for group in groups.values() if len(group) > 1)


def _leaks(shard: ShardIndex, rows_by_prompt: dict[str, list[int]]) -> list[Place]:
    """Return the decisions of an information set whose prompts tell the hidden states apart."""
    hidden = {
        prompt: [one for row in rows[:_REPLAYED] if (one := _hidden(shard, row)) is not None]
        for prompt, rows in rows_by_prompt.items()
    }
    by_prompt = [set(some) for some in hidden.values() if some]
    every = set().union(*by_prompt)
    if len(by_prompt) < 2 or len(every) < 2 or sum(map(len, by_prompt)) > len(every):
        return []  # a hidden state went with two prompts, so the prompt does not follow from it
    if sum(map(len, hidden.values())) == len(every):
        return []  # each was met once, so they differ whatever the reason
    prompts = prompts_of(shard.folder, shard.number).messages
    others = {prompt: _own_lines(prompt, prompts, rows_by_prompt) for prompt in rows_by_prompt}
    return [
        Place(
            shard.where(row),
            f"Only with the others at {_named(hidden[prompt])} the prompt says {others[prompt]!r}.",
        )
        for prompt, rows in rows_by_prompt.items()
        for row in rows[:3]
        if hidden[prompt] and others[prompt]
    ]


def _named(hidden: Sequence[tuple[str, ...]]) -> str:
    return " or ".join(sorted({", ".join(map(repr, one)) for one in hidden})[:3])


def _own_lines(prompt: str, prompts: Any, rows_by_prompt: dict[str, list[int]]) -> str:
    """Return the first line that only this prompt of the information set has."""
    others = {
        line for name in rows_by_prompt if name != prompt for _, said in prompts[name] for line in said.split("\n")
    }
    own = (line for _, said in prompts[prompt] for line in said.split("\n"))
    return next((line[:80] for line in own if line not in others), "")


def _hidden(shard: ShardIndex, row: int) -> tuple[str, ...] | None:
    """Return the state keys of the other seats at a decision; None where the episode cannot be played again."""
    where, turn = shard.where(row), int(shard.turn[row])
    try:
        episode = load_episode(shard.folder, where["episode"])
        return _others(episode, turn, where["seat"])
    except StratagemError:
        return None


def _others(episode: Episode, turn: int, seat: int) -> tuple[str, ...] | None:
    for state, decisions in steps(episode):
        if decisions and decisions[0].turn == turn:
            return tuple(state.view(other).state_key for other in range(state.game.spec.seats) if other != seat)
    return None
