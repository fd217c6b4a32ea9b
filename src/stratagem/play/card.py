"""Dataset card of a record: a README.md that tells `datasets` its tables, and people their columns.

The part between the two lines of dashes is the metadata of the Hugging Face Hub's dataset cards.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from stratagem.play.column_notes import ROWS, VALUES, column_notes
from stratagem.play.schemas import SCHEMA_VERSION, SCHEMAS

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
