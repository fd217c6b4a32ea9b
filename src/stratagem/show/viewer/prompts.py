"""Lines of prompts that a shard's prompts share: what is the same in most of them, and what one of them lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow.compute as pc

from stratagem.games.base import Json
from stratagem.playing.calls import original
from stratagem.playing.store import read_columns
from stratagem.show.viewer.episode_index import stamp

SHARED = 0.5
"""Share of prompts from which a line counts as shared."""
FEW = 4
"""Number of prompts under which nothing is compared."""
Messages = tuple[tuple[str, str], ...]


class PromptKind(NamedTuple):
    """Prompts that are compared: of one base model, one game and one sequence of roles."""

    base: str
    game: str
    roles: tuple[str, ...]


class PromptLines(NamedTuple):
    """Number of prompts that have each line, by message."""

    prompts: int
    counts: tuple[Mapping[str, int], ...]
    order: tuple[tuple[str, ...], ...]
    """Lines in the order in which they were met, by message."""
    first: str
    """First line of most prompts; empty where there is none."""
    last: str
    """Last line of most prompts."""
    inner: frozenset[str]
    """Lines of the last message that stand before its end in some prompt."""

    def share(self, message: int, line: str) -> float:
        """Return the share of the prompts that have a line."""
        return self.counts[message].get(line, 0) / self.prompts

    def cut(self, messages: Messages) -> str:
        """Return the first or last line that most prompts have and this one lacks, where it breaks off before it.

        It breaks off where its last line stands further up in other prompts, or is the beginning of one of theirs.
        """
        if self.prompts < FEW or not messages:
            return ""
        last, first = messages[-1][1].split("\n")[-1], messages[0][1].split("\n")[0]
        if self.last and last != self.last and any(line.startswith(last) and line != last for line in self.order[-1]):
            return self.last
        if self.first and first != self.first and any(line.endswith(first) and line != first for line in self.order[0]):
            return self.first
        return self.last if self.last and last != self.last and last in self.inner else ""


class ShardPrompts(NamedTuple):
    """Prompts of a shard by id, with their kinds."""

    messages: Mapping[str, Messages]
    kinds: Mapping[str, PromptKind]
    lines: Mapping[PromptKind, PromptLines]
    num_tokens: Mapping[str, int]


def prompts_of(folder: Path, number: int) -> ShardPrompts:
    """Return the prompts of a shard."""
    return _prompts(folder, number, *stamp(folder, number))


@lru_cache(maxsize=64)
def _prompts(folder: Path, number: int, modified: int, size: int) -> ShardPrompts:
    calls = read_columns(folder, "calls", number, ("episode", "prompt"))
    games = read_columns(folder, "episodes", number, ("id", "game"))
    game_of = dict(zip(games["id"].to_pylist(), games["game"].to_pylist(), strict=True))
    owner = dict(zip(calls["prompt"].to_pylist(), calls["episode"].to_pylist(), strict=True))
    table = read_columns(folder, "prompts", number, ("id", "base", "messages", "tokens"))
    lengths = pc.list_value_length(table["tokens"]).to_pylist()
    messages, kinds = {}, {}
    for name, base, said in zip(*(table[column].to_pylist() for column in ("id", "base", "messages")), strict=True):
        messages[name] = tuple((one["role"], original(one["content"])) for one in said)
        kinds[name] = PromptKind(base, game_of.get(owner.get(name, ""), ""), tuple(role for role, _ in messages[name]))
    by_kind: dict[PromptKind, list[Messages]] = {}
    for name, kind in kinds.items():
        by_kind.setdefault(kind, []).append(messages[name])
    lines = {kind: lines_of_prompt(some) for kind, some in by_kind.items()}
    return ShardPrompts(messages, kinds, lines, dict(zip(table["id"].to_pylist(), lengths, strict=True)))


def lines_of_prompt(prompts: Sequence[Messages]) -> PromptLines:
    """Count the lines of the messages over all prompts."""
    columns = [[dict.fromkeys(content.split("\n")) for _, content in column] for column in zip(*prompts, strict=True)]
    counts = tuple(Counter(line for lines in column for line in lines) for column in columns)
    first, last = (Counter(prompt[place][1].split("\n")[place] for prompt in prompts if prompt) for place in (0, -1))
    inner = frozenset(line for prompt in prompts if prompt for line in prompt[-1][1].split("\n")[:-1])
    return PromptLines(len(prompts), counts, tuple(tuple(count) for count in counts), _most(first), _most(last), inner)


def _most(lines: Counter[str]) -> str:
    """Return the line that more than half have; empty where there is none."""
    line, number = max(lines.items(), key=lambda item: item[1], default=("", 0))
    return line if number > SHARED * lines.total() else ""


def shade_prompt(folder: Path, number: int, game: str, call: Json) -> Json:
    """Return a call of the words with the shading of its prompt."""
    messages = tuple((message["role"], message["content"]) for message in call["messages"])
    return {**call, **shading(folder, number, call["base"], game, messages)}


def shading(folder: Path, number: int, base: str, game: str, messages: Messages) -> Json:
    """Return for each line of a prompt whether most prompts of the shard have it, and where it was cut."""
    kind = PromptKind(base, game, tuple(role for role, _ in messages))
    lines = prompts_of(folder, number).lines.get(kind)
    if lines is None or lines.prompts < 2:
        return {"shared": [], "cut": "", "compared": 0}
    shared = [
        [lines.share(place, line) > SHARED for line in content.split("\n")]
        for place, (_, content) in enumerate(messages)
    ]
    return {"shared": shared, "cut": lines.cut(messages), "compared": lines.prompts}
