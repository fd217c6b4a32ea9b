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
    "version": "How often the adapter had changed.",
}
CALL = {
    "index": "Which of the decision's calls it is, counted from 0.",
    **POLICY,
    "prompt": "The id of its prompt.",
    "text": "What was replied, or, where `finish` is `error`, why nothing was.",
    "allowed": "The sets that tokens were drawn from, one after the other.",
    "allowed_counts": "For each token how many of `allowed` are its set; -1 where none applied.",
    "num_prompt": "Tokens of the prompt, as the engine or the server counts them.",
    "num_reply": "Tokens of the reply, counted likewise.",
}
PROMPT = {
    "id": "Follows from all that stands in the row, so it is the same in every shard.",
    "base": "The base model, whose tokens these are.",
    "messages": "The conversation so far.",
    "tokens": "The same as the model got it; empty where a server takes texts only.",
}


def records() -> str:
    """The page."""
    hows, purposes, kinds, finishes = (", ".join(map(code, get_args(names))) for names in (How, Purpose, Kind, Finish))
    decision = notes(Decision)
    call = notes(Call) | notes(Sampling) | {name: decision[name] for name in ("turn", "seat", "attempt")} | KEY | CALL
    return page(
        "Records",
        definition(store) + " [Record and read](../how-to/record-and-read.md) shows how.",
        "Shards lie in `FOLDER/episodes/`, `FOLDER/decisions/`, `FOLDER/calls/` and `FOLDER/prompts/` under one number "
        f"each, `000000.parquet` first. Every file carries `stratagem_schema_version`, now {SCHEMA_VERSION}, in its "
        "metadata. Version 2, which had no `pasts`, is read too; any other version is refused. A column may be "
        "null where its meaning says so.",
        "## episodes",
        definition(Episode),
        _columns(EPISODES, notes(Episode)),
        f"`purpose` is one of {purposes}.",
        "## decisions",
        definition(Decision),
        _columns(DECISIONS, decision | KEY),
        f"`how` is one of {hows}.",
        "## calls",
        "What a model replied on the way to a decision. Its key is that of the decision, and its index.",
        _columns(CALLS, call),
        f"The `kind` of a span is one of {kinds}; only sampled tokens carry a gradient. `finish` is one of {finishes}.",
        "## prompts",
        "What was asked, once a shard however many calls ask it.",
        _columns(PROMPTS, PROMPT),
        "Half a character, such as a server may cut an emoji into, stands in a text as U+FDD0 and four digits, since "
        "no file of texts can hold it; `read_episodes` gives it back as it was.",
    )


def _columns(schema: pa.Schema, meant: Mapping[str, str]) -> str:
    rows = ((code(field.name), code(field.type), meant[field.name]) for field in schema)
    return table(("column", "type", "meaning"), rows)
