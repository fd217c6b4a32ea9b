"""Dataset card of a record: a README.md that tells `datasets` its tables, and people their columns.

The part between the two lines of dashes is the metadata of the Hugging Face Hub's dataset cards.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import get_args

from stratagem.base.field_notes import notes
from stratagem.base.files import removed_if_failed
from stratagem.language.engines.base import Call, Finish, Kind, Sampling
from stratagem.players.protocol import How
from stratagem.playing.records import Decision, Episode, Purpose
from stratagem.playing.schemas import SCHEMA_VERSION, SCHEMAS

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
    "kept": "Kept sets of top-k and top-p, one for each -2, as `KeptSet` of the engines packs them.",
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
    "timings": "Times of the calls and ids of their answers, one row a call. Two equal runs have equal other tables.",
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
    "timings": "The clock and ids of servers are in this table alone. No digest covers it, so the others can be "
    "compared by theirs.",
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


FILE = "README.md"
_BATCH = 10_000
"""Rows that `datasets` reads at once; without a number it cannot read a file without rows."""
_MARK = "  description: Stratagem record "
_KNOWN = re.compile(rf"^{_MARK}([0-9a-f]{{32}})$", re.MULTILINE)


def update_card(folder: Path, files: Iterable[Path]) -> None:
    """Write the card of a record after these files of it; a file of this name that is no card of ours stays.

    `datasets` caches the tables of a folder by its name and its card, whatever the files are. So each card has a
    digest of all that was written but the times, or the rows of another record would be returned.
    """
    path = folder / FILE
    known = _KNOWN.search(path.read_text(encoding="utf-8", errors="replace")) if path.exists() else None
    if path.exists() and known is None:
        return
    digest = hashlib.blake2b(known[1].encode() if known else b"", digest_size=16)
    for file in files:
        with file.open("rb") as content:
            digest.update(
                f"{file.parent.name}/{file.name}\0".encode() + hashlib.file_digest(content, "blake2b").digest()
            )
    partial = path.with_suffix(".partial")
    with removed_if_failed(partial):
        partial.write_text(card(digest.hexdigest()), encoding="utf-8")
        partial.replace(path)


def card(digest: str) -> str:
    """Return the card of a record, with the digest of its files."""
    return "\n".join((*_metadata(digest), *_beginning(), *(line for name in ROWS for line in _table(name)), ""))


def _metadata(digest: str) -> Iterator[str]:
    yield from ("---", "tags:", "- game-theory", "- stratagem", "configs:")
    for name in ROWS:
        yield f"- config_name: {name}"
        if name == "decisions":
            yield "  default: true"
        yield f"  data_files: {name}/*.parquet"
        yield f"  batch_size: {_BATCH}"
        yield f"{_MARK}{digest}"
    yield "---"


def _beginning() -> Iterator[str]:
    yield f"""\
# Record of play

Episodes of games, the decisions in them, and the calls of models behind these. Stratagem wrote them as Parquet, schema
version {SCHEMA_VERSION}. A row of `decisions` belongs to the episode whose `id` is its `episode`. A row of `calls`
belongs to the decision of the same `episode`, `turn`, `seat` and `attempt`, and has the `id` of its prompt. Tables of
calls and prompts have no rows where no model played; `datasets` then says that there is no data.

```python
from datasets import load_dataset

decisions = load_dataset("FOLDER", "decisions", split="train")
```

```sql
SELECT action, count(*) AS times, avg(payoff) AS payoff
FROM 'FOLDER/decisions/*.parquet' GROUP BY action;
```
"""


def _table(name: str) -> Iterator[str]:
    """Yield the lines about a table."""
    meant = column_notes()[name]
    yield from (f"## {name}", "", ROWS[name], "", "| column | type | meaning |", "| --- | --- | --- |")
    yield from (f"| `{field.name}` | `{field.type}` | {meant.get(field.name, '')} |" for field in SCHEMAS[name])
    yield from ("", VALUES[name], "")
