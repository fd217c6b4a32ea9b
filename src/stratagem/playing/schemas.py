"""Schemas of a record's five tables: episodes, decisions, the calls behind them, their times, and their prompts.

A decision's key is (episode, turn, seat, attempt); a call has its number among the calls of its decision besides.
"""

from __future__ import annotations

import pyarrow as pa

SCHEMA_VERSION = 12
READABLE = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
"""Readable versions of the format.

Version 2 had no pasts: its episodes carried nothing over. Version 3 had no clock but turns.
Version 4 had no kept sets. Version 5 had no reasoning. Version 6 had signals
as a map, which `datasets` cannot open. Version 7 had no advantages. Version 8 had
the times of calls among the calls. Version 9 had no min-p. Version 10 had no samplers.
Version 11 had no ids of answers.
"""
LATER = {
    "episodes": {"pasts": 3},
    "decisions": {"clock": 4, "advantage": 8},
    "calls": {"kept": 5, "reasoning": 6, "min_p": 10, "sampler": 11},
    "timings": {"answer_id": 12},
}
"""Columns that the first version did not have, by the version that brought them."""
EARLIER_TYPES = {"episodes": {"signals": pa.map_(pa.string(), pa.list_(pa.list_(pa.float64())))}}
"""Types of columns in versions before the present one; they are cast when they are read."""
_META = {b"stratagem_schema_version": str(SCHEMA_VERSION).encode()}
_PART = pa.struct([("slot", pa.string()), ("kind", pa.string()), ("reward", pa.float64())])
_STAKES = pa.struct([("cooperative", pa.float64()), ("passive", pa.float64())])
_COUNT = pa.struct([("joint", pa.list_(pa.string())), ("count", pa.int64())])
_PAST = pa.struct([("counts", pa.list_(_COUNT)), ("last", pa.list_(pa.string())), ("rounds", pa.int64())])
_BY_ROUND_AND_SEAT = pa.list_(pa.list_(pa.float64()))
_SIGNAL = pa.struct([("name", pa.string()), ("rounds", _BY_ROUND_AND_SEAT)])
_TOKENS = pa.list_(pa.int32())
_SPAN = pa.struct([("kind", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
_MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string())])

EPISODES = pa.schema(
    [
        ("id", pa.string()),
        ("game", pa.string()),
        ("game_version", pa.int32()),
        ("players", pa.list_(pa.string())),
        ("slots", pa.list_(pa.int32())),
        ("key", pa.uint64()),
        ("chance", pa.uint64()),
        ("purpose", pa.string()),
        ("group", pa.string()),
        ("probe_of", pa.string()),
        ("parent", pa.string()),
        ("forked_at", pa.int32()),
        ("pasts", pa.list_(_PAST)),
        ("finished", pa.bool_()),
        ("payoffs", pa.list_(pa.float64())),
        ("rounds", _BY_ROUND_AND_SEAT),
        ("signals", pa.list_(_SIGNAL)),
        ("stakes", pa.list_(_STAKES)),
        ("num_decisions", pa.list_(pa.int32())),
        ("num_illegal", pa.list_(pa.int32())),
    ],
    metadata=_META,
)
DECISIONS = pa.schema(
    [
        ("episode", pa.string()),
        ("round", pa.int32()),
        ("turn", pa.int32()),
        ("clock", pa.int32()),
        ("seat", pa.int32()),
        ("slot", pa.int32()),
        ("attempt", pa.int32()),
        ("state_key", pa.string()),
        ("info_key", pa.string()),
        ("action", pa.string()),
        ("how", pa.string()),
        ("said", pa.string()),
        ("keep", pa.bool_()),
        ("payoff", pa.float64()),
        ("parts", pa.list_(_PART)),
        ("advantage", pa.float64()),
    ],
    metadata=_META,
)
CALLS = pa.schema(
    [
        ("episode", pa.string()),
        ("turn", pa.int32()),
        ("seat", pa.int32()),
        ("attempt", pa.int32()),
        ("index", pa.int32()),
        ("base", pa.string()),
        ("adapter", pa.string()),
        ("version", pa.int32()),
        ("prompt", pa.string()),
        ("text", pa.string()),
        ("tokens", _TOKENS),
        ("spans", pa.list_(_SPAN)),
        ("sampler_logprobs", pa.list_(pa.float64())),  # an engine's figures may be wider than 32 bits
        ("allowed", _TOKENS),
        ("allowed_counts", pa.list_(pa.int32())),
        ("kept", pa.list_(pa.binary())),
        ("temperature", pa.float64()),
        ("top_k", pa.int64()),
        ("top_p", pa.float64()),
        ("min_p", pa.float64()),
        ("sampler", pa.string()),
        ("finish", pa.string()),
        ("num_prompt", pa.int64()),
        ("num_reply", pa.int64()),
        ("reasoning", pa.string()),
    ],
    metadata=_META,
)
CALL_KEY = ("episode", "turn", "seat", "attempt", "index")
"""Columns that identify a call."""
PROMPTS = pa.schema(
    [("id", pa.string()), ("base", pa.string()), ("messages", pa.list_(_MESSAGE)), ("tokens", _TOKENS)],
    metadata=_META,
)
TIMINGS = pa.schema(
    [*(CALLS.field(name) for name in CALL_KEY), ("ms", pa.float64()), ("answer_id", pa.string())], metadata=_META
)
SCHEMAS = {"decisions": DECISIONS, "calls": CALLS, "timings": TIMINGS, "prompts": PROMPTS, "episodes": EPISODES}
"""By the name of its folder, in the order in which a shard is written."""
REPEATABLE = tuple(name for name in SCHEMAS if name != "timings")
"""Tables whose files are equal in two equal runs; digests are of these alone.

The clock and the ids of a server are in none of them.
"""
