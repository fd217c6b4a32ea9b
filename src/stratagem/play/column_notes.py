"""Meaning of the columns of a record, table by table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import get_args

from stratagem.engines.base import Call, Finish, Kind, Sampling
from stratagem.field_notes import notes
from stratagem.play.records import Decision, Episode, Purpose
from stratagem.players.base import How

_KEY = {"episode": "The id of its episode."}
_CALL = {
    "index": "Index of the call within its decision, from 0.",
    "base": "The base model.",
    "adapter": "The adapter on it; empty where there was none.",
    "version": "Number of updates of the adapter so far.",
    "prompt": "The id of its prompt.",
    "text": "The reply, or the reason of the error where `finish` is `error`.",
    "allowed": "Allowed sets of the tokens, concatenated.",
    "allowed_counts": "Size of the allowed set of each token; -1 where there was none, -2 where the set is in `kept`.",
    "kept": "Kept sets of top-k and top-p, one for each -2, as `KeptSet` packs them (`stratagem.engines.kept_set`).",
    "num_prompt": "Number of prompt tokens, as the engine or the server counts them.",
    "num_reply": "Number of reply tokens, counted likewise.",
}
_PROMPT = {
    "id": "Digest of the row, hence equal in every shard.",
    "base": "The base model, which defines the tokens.",
    "messages": "The conversation so far.",
    "tokens": "The same as tokens; empty where a server takes text only.",
}
ROWS = {
    "episodes": "One table from start to end.",
    "decisions": "One answer of one seat. Its key is (episode, turn, seat, attempt).",
    "calls": "Model calls of a decision. The key is that of the decision, with the index of the call.",
    "timings": "Times of the calls, one row a call. Two equal runs have different times and equal other tables.",
    "prompts": "Prompts, each once per shard.",
}
"""Meaning of a row, by table, in the order in which a reader meets them."""
_purposes, _hows, _kinds, _finishes = (
    ", ".join(f"`{name}`" for name in get_args(names)) for names in (Purpose, How, Kind, Finish)
)
VALUES = {
    "episodes": f"`purpose` is one of {_purposes}.",
    "decisions": f"`how` is one of {_hows}.",
    "calls": f"The `kind` of a span is one of {_kinds}; only sampled tokens carry a gradient. `finish` is one of "
    f"{_finishes}.",
    "timings": "The clock is in this table alone. No digest covers it, so the others can be compared by their digests.",
    "prompts": "A server may split a character into surrogate halves, which Parquet cannot store. They are stored as "
    "U+FDD0 and four digits. `read_episodes` restores them.",
}
"""Values of columns that take few, by table."""


@cache
def column_notes() -> Mapping[str, Mapping[str, str]]:
    """Return the meaning of each column, by table."""
    decision = notes(Decision)
    key = {name: decision[name] for name in ("turn", "seat", "attempt")}
    return {
        "episodes": notes(Episode),
        "decisions": decision | _KEY,
        "calls": notes(Call) | notes(Sampling) | key | _KEY | _CALL,
        "timings": notes(Call) | key | _KEY | {"index": _CALL["index"]},
        "prompts": _PROMPT,
    }
