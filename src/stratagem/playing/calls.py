"""Tables of calls, of their times and of their prompts; a prompt is stored once, however many calls share it.

A prompt's id follows from what it says and whose tokens it has, so equal prompts of different shards have equal ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from stratagem.base.errors import BadRecord
from stratagem.language.engines.base import Call, PolicyId, Prompt, Sampling, Span
from stratagem.language.engines.kept_set import KeptSet, TokenSet
from stratagem.playing.rows import ATTEMPT, BEHIND, SEAT, TURN, Row
from stratagem.playing.schemas import CALL_KEY, CALLS, PROMPTS, TIMINGS

_ESCAPE = "\ufdd0"
"""Code point that stands for no character, so no text contains it."""
_UNSTORABLE = re.compile(f"[{_ESCAPE}\ud800-\udfff]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")
DecisionKey = tuple[str, int, int, int]
"""Key of the decision behind a call: episode, turn, seat, attempt."""

_ANY, _KEPT = -1, -2
"""Counts of a token that had no allowed set, and of one whose kept set is in a column of its own."""
_VALUES: dict[str, Callable[[Call], Any]] = {
    "base": lambda call: storable(call.policy.base),
    "adapter": lambda call: storable(call.policy.adapter),
    "version": lambda call: call.policy.version,
    "text": lambda call: storable(call.text),
    "tokens": lambda call: call.tokens,
    "spans": lambda call: call.spans,
    "sampler_logprobs": lambda call: call.sampler_logprobs,
    "allowed": lambda call: list(chain.from_iterable(some for some in call.allowed if isinstance(some, tuple))),
    "allowed_counts": lambda call: [_count(some) for some in call.allowed],
    "kept": lambda call: [some.packed for some in call.allowed if isinstance(some, KeptSet)],
    "temperature": lambda call: call.sampling.temperature,
    "top_k": lambda call: call.sampling.top_k,
    "top_p": lambda call: call.sampling.top_p,
    "min_p": lambda call: call.sampling.min_p,
    "sampler": lambda call: storable(call.sampling.sampler),
    "finish": lambda call: call.finish,
    "num_prompt": lambda call: call.num_prompt,
    "num_reply": lambda call: call.num_reply,
    "reasoning": lambda call: storable(call.reasoning),
}
"""Columns of a call itself."""


def storable(text: str) -> str:
    """Escape half characters, which no file of texts can hold; `original` undoes it."""
    return _UNSTORABLE.sub(lambda match: f"{_ESCAPE}{ord(match[0]):04x}", text)


def original(text: str) -> str:
    """Undo `storable`."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if _ESCAPE in text else text


def call_tables(talked: Sequence[tuple[str, Row]]) -> dict[str, pa.Table]:
    """Return all calls of these decisions in the order of play, with their times and all their prompts."""
    keys = [
        (name, row[TURN], row[SEAT], row[ATTEMPT], index) for name, row in talked for index in range(len(row[BEHIND]))
    ]
    calls = [call for _, row in talked for call in row[BEHIND]]
    asked = [(call.policy.base, call.prompt) for call in calls]
    ids = {prompt: prompt_id(*prompt) for prompt in dict.fromkeys(asked)}
    columns: dict[str, Sequence[Any]] = {name: [value(call) for call in calls] for name, value in _VALUES.items()}
    key: dict[str, Sequence[Any]] = dict(zip(CALL_KEY, zip(*keys, strict=True) if keys else [()] * 5, strict=True))
    columns |= {**key, "prompt": [ids[prompt] for prompt in asked]}
    own: dict[str, Sequence[Any]] = {
        "ms": [call.ms for call in calls],
        "answer_id": [storable(call.answer_id) for call in calls],
    }
    timings = pa.table({**key, **own}, schema=TIMINGS)
    return {"calls": pa.table(columns, schema=CALLS), "timings": timings, "prompts": _prompt_table(ids)}


def prompt_id(base: str, prompt: Prompt) -> str:
    """Return the unique id of a prompt of one base model."""
    content = json.dumps([base, prompt.messages, prompt.tokens], ensure_ascii=False, separators=(",", ":"))
    return blake2b(content.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _prompt_table(ids: dict[tuple[str, Prompt], str]) -> pa.Table:
    columns: dict[str, Sequence[Any]] = {
        "id": list(ids.values()),
        "base": [storable(base) for base, _ in ids],
        "messages": [[(storable(role), storable(said)) for role, said in prompt.messages] for _, prompt in ids],
        "tokens": [prompt.tokens for _, prompt in ids],
    }
    return pa.table(columns, schema=PROMPTS)


def calls_by_decision(calls: pa.Table, prompts: pa.Table) -> dict[DecisionKey, tuple[Call, ...]]:
    """Return the calls of each decision, as they were."""
    known = {row["id"]: _prompt(row) for row in prompts.to_pylist()}
    result: dict[DecisionKey, list[tuple[int, Call]]] = {}
    for row in calls.to_pylist():
        if row["prompt"] not in known:
            raise BadRecord(f"The call of episode {row['episode']}, turn {row['turn']}, has lost its prompt.")
        key = row["episode"], row["turn"], row["seat"], row["attempt"]
        result.setdefault(key, []).append((row["index"], _call(row, known[row["prompt"]])))
    return {key: tuple(call for _, call in sorted(own, key=lambda item: item[0])) for key, own in result.items()}


def _prompt(row: dict[str, Any]) -> Prompt:
    messages = ((original(message["role"]), original(message["content"])) for message in row["messages"])
    return Prompt(tuple(messages), tuple(row["tokens"]))


def _call(row: dict[str, Any], prompt: Prompt) -> Call:
    return Call(
        policy=PolicyId(original(row["base"]), original(row["adapter"]), row["version"]),
        prompt=prompt,
        text=original(row["text"]),
        tokens=tuple(row["tokens"]),
        spans=tuple(Span(**span) for span in row["spans"]),
        sampler_logprobs=tuple(row["sampler_logprobs"]),
        allowed=tuple(_allowed_sets(row)),
        sampling=Sampling(row["temperature"], row["top_k"], row["top_p"], row["min_p"], original(row["sampler"])),
        finish=row["finish"],
        num_prompt=row["num_prompt"],
        num_reply=row["num_reply"],
        ms=row["ms"],
        reasoning=original(row["reasoning"]),
        answer_id=original(row["answer_id"]),
    )


def _count(some: TokenSet | None) -> int:
    return _ANY if some is None else _KEPT if isinstance(some, KeptSet) else len(some)


def _allowed_sets(row: dict[str, Any]) -> Iterator[TokenSet | None]:
    tokens, kept = iter(row["allowed"]), map(KeptSet, row["kept"])
    for count in row["allowed_counts"]:
        yield None if count == _ANY else next(kept) if count == _KEPT else tuple(islice(tokens, count))


def size_of(call: Call) -> int:
    """Return the number of characters and tokens of a call, its prompt and the bytes of kept sets included."""
    characters = sum(len(content) for _, content in call.prompt.messages) + len(call.text) + len(call.reasoning)
    sets = sum(len(some.packed if isinstance(some, KeptSet) else some or ()) for some in call.allowed)
    return characters + len(call.tokens) + len(call.prompt.tokens) + sets
