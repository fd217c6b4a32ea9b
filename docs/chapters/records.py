"""The record: the four tables that an evaluation, a tournament or a match writes with `--record`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import pyarrow as pa

import stratagem.play.store as store
from chapters.markdown import code, definition, notes, page, table
from stratagem.engines.base import Call, Finish, Kind, Sampling
from stratagem.play.records import Decision, Episode, Purpose
from stratagem.play.schemas import CALLS, DECISIONS, EPISODES, PROMPTS, SCHEMA_VERSION
from stratagem.players.base import How

KEY = {"episode": "The id of its episode."}
POLICY = {
    "base": "The base model.",
    "adapter": "The adapter on it; empty where there was none.",
    "version": "Number of updates of the adapter so far.",
}
CALL = {
    "index": "Index of the call within its decision, from 0.",
    **POLICY,
    "prompt": "The id of its prompt.",
    "text": "The reply, or the reason of the error where `finish` is `error`.",
    "allowed": "Allowed sets of the tokens, concatenated.",
    "allowed_counts": "Size of the allowed set of each token; -1 where there was none, -2 where the set is in `kept`.",
    "kept": "Kept sets of top-k and top-p, one for each -2, as `KeptSet` packs them (`stratagem.engines.kept_set`).",
    "num_prompt": "Number of prompt tokens, as the engine or the server counts them.",
    "num_reply": "Number of reply tokens, counted likewise.",
}
PROMPT = {
    "id": "Digest of the row, hence equal in every shard.",
    "base": "The base model, which defines the tokens.",
    "messages": "The conversation so far.",
    "tokens": "The same as tokens; empty where a server takes text only.",
}


def records() -> str:
    """The page."""
    hows, purposes, kinds, finishes = (", ".join(map(code, get_args(names))) for names in (How, Purpose, Kind, Finish))
    decision = notes(Decision)
    call = notes(Call) | notes(Sampling) | {name: decision[name] for name in ("turn", "seat", "attempt")} | KEY | CALL
    return page(
        "Records",
        definition(store) + " [Record and read](../how-to/record-and-read.md) shows how.",
        "Shards are in `FOLDER/episodes/`, `FOLDER/decisions/`, `FOLDER/calls/` and `FOLDER/prompts/`, numbered from "
        f"`000000.parquet`. The metadata of every file has `stratagem_schema_version`, now {SCHEMA_VERSION}. "
        "Versions 2 to 5, which had fewer columns, are read too. Any other version is refused. "
        "A column may be null where its meaning says so.",
        "## episodes",
        definition(Episode),
        _columns(EPISODES, notes(Episode)),
        f"`purpose` is one of {purposes}.",
        "## decisions",
        definition(Decision),
        _columns(DECISIONS, decision | KEY),
        f"`how` is one of {hows}.",
        "## calls",
        "Model calls of a decision. The key is that of the decision, with the index of the call.",
        _columns(CALLS, call),
        f"The `kind` of a span is one of {kinds}; only sampled tokens carry a gradient. `finish` is one of {finishes}.",
        "## prompts",
        "Prompts, each once per shard.",
        _columns(PROMPTS, PROMPT),
        "A server may split a character into surrogate halves, which Parquet cannot store. They are stored as U+FDD0 "
        "and four digits. `read_episodes` restores them.",
    )


def _columns(schema: pa.Schema, meant: Mapping[str, str]) -> str:
    rows = ((code(field.name), code(field.type), meant[field.name]) for field in schema)
    return table(("column", "type", "meaning"), rows)
