"""Episodes, decisions, calls and prompts on disk: Parquet, so that pandas, DuckDB and `datasets` open them too.

A shard, one a step, is a file of each table, written to a temporary name and renamed; the episodes come last, so a
shard counts once its episodes are there, and a kill at any moment never leaves half a one. Every page has a checksum,
which is looked at when it is read. Calls and prompts may be empty: scripted players have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.files import removed_if_failed, telling
from stratagem.base.garbage import fewer_collections
from stratagem.base.lock import hold, release
from stratagem.games.base import ActionPart, Stakes
from stratagem.language.engines.base import Call
from stratagem.language.prompting.past import Past
from stratagem.playing.calls import DecisionKey, calls_by_decision
from stratagem.playing.card import FILE, update_card
from stratagem.playing.columns import NULLABLE, as_now, check_types, check_values
from stratagem.playing.parquet_size import read_bounded_schema
from stratagem.playing.records import Decision, Episode
from stratagem.playing.schemas import CALL_KEY, DECISIONS, LATER, READABLE, REPEATABLE, SCHEMAS
from stratagem.playing.shard import Shard

_LOCK = "lock"
"""File in the folder of a record that the process which writes there has locked."""
_BUFFER = 1 << 20
"""Bytes that are written at once; by itself the library writes each part of a page, a hundred in a small file."""
_BATCH = 256
"""Number of episodes that are made at once, since a list may need only the first."""
_DECISION_FIELDS = DECISIONS.names[1:]


def write_shard(folder: Path, number: int, episodes: Sequence[Episode]) -> None:
    """Write one shard; a shard of that number that is already there is replaced."""
    shard = Shard()
    for episode in episodes:
        shard.add(episode)
    _write_shard(folder, number, shard)


def _write_shard(folder: Path, number: int, shard: Shard) -> None:
    tables = shard.tables()
    final = _path(folder / "episodes", number)
    with telling(final):
        final.unlink(missing_ok=True)  # a shard does not count while it is being replaced
    for name in SCHEMAS:
        _write(folder / name, number, tables[name])
    with telling(folder / FILE):
        update_card(folder, [_path(folder / name, number) for name in REPEATABLE])


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.parquet"


def _write(folder: Path, number: int, table: pa.Table) -> None:
    final = _path(folder, number)
    partial = final.with_suffix(".partial")
    with telling(final):
        folder.mkdir(parents=True, exist_ok=True)
        # statistics are no part of what a checksum covers, and nobody here reads them
        with removed_if_failed(partial):
            with partial.open("wb", buffering=_BUFFER) as file:
                pq.write_table(table, file, compression="zstd", write_page_checksum=True, write_statistics=False)
            partial.replace(final)


def prepare(folder: Path) -> None:
    """Make the folder of a recording, or say in one sentence why nothing can be written there."""
    for name in SCHEMAS:
        with telling(folder):
            (folder / name).mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder / name).close()


def fresh(folder: Path) -> Path:
    """Make the folder of a record; refused where it already holds one, since ids would be there twice."""
    if shards(folder):
        raise StratagemError(f"{folder} already holds recorded episodes: choose another folder.")
    prepare(folder)
    return folder


def hold_record(folder: Path) -> None:
    """Exclude other processes, whose episodes would be there twice or in the place of these."""
    with telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
    hold(folder / _LOCK, f"the record {folder}")


def release_record(folder: Path) -> None:
    """Let other processes write to the record."""
    release(folder / _LOCK)


def shards(folder: Path) -> list[int]:
    """Return the numbers of the shards that are complete."""
    numbers = (path.stem for path in (folder / "episodes").glob("*.parquet"))
    return sorted(int(number) for number in numbers if number.isdecimal())


def record(episodes: Iterable[Episode], folder: Path, every: int = 20_000) -> Iterator[Episode]:
    """Pass episodes on, writing a shard about every `every` decisions; earlier shards stay.

    Decisions of models count for more, by the size of their calls, so that neither much memory nor much play is at
    stake. Everything passed on is written, also when the caller stops early or play breaks off. Another process that
    records there meanwhile is refused: both would write the same shard.
    """
    hold_record(folder)
    try:
        yield from _record_episodes(episodes, folder, every)
    finally:
        release_record(folder)


def _record_episodes(episodes: Iterable[Episode], folder: Path, every: int) -> Iterator[Episode]:
    number = max(shards(folder), default=-1) + 1
    shard = Shard()
    try:
        for episode in episodes:
            try:
                yield episode
            finally:
                shard.add(episode)
            if shard.size >= every:
                full, shard = shard, Shard()
                _write_shard(folder, number, full)
                number += 1
    finally:
        if shard.size:
            _write_shard(folder, number, shard)


def no_episodes(folder: Path) -> BadRecord:
    """Return the error about a folder without a record; that of a run is told where its record is."""
    inside = f": those of the run are in {folder / 'record'}" if shards(folder / "record") else ""
    return BadRecord(f"There are no recorded episodes in {folder}{inside}.")


def read_episodes(
    folder: Path, numbers: Iterable[int] | None = None, *, calls: bool = True, decisions: bool = True
) -> Iterator[Episode]:
    """Yield the episodes of these shards (by default all), with their decisions, as they were written.

    Without `calls` the decisions come without the calls behind them, which are by far the most to read; without
    `decisions` the episodes come with their payoffs alone.
    """
    present = shards(folder)
    if numbers is None and not present:
        raise no_episodes(folder)
    for number in present if numbers is None else numbers:
        with fewer_collections():  # with Python's own they took two fifths of the time, as all rows live on
            episodes = _read_shard(folder, number, calls=calls and decisions, decisions=decisions)
        yield from episodes


def _read_shard(folder: Path, number: int, *, calls: bool, decisions: bool) -> list[Episode]:
    behind = calls_by_decision(_read_calls(folder, number), _read(folder, "prompts", number)) if calls else {}
    taken = _decisions(_read(folder, "decisions", number), behind) if decisions else {}
    batches = _read(folder, "episodes", number).to_batches(max_chunksize=_BATCH)
    return [_episode(row, taken.get(row["id"], [])) for batch in batches for row in batch.to_pylist()]


def count_episodes(folder: Path) -> int:
    """Count the episodes of a record, as the ends of its files tell."""
    return sum(_count_rows(_path(folder / "episodes", number)) for number in shards(folder))


def _count_rows(path: Path) -> int:
    with _telling_damage(path), pq.ParquetFile(path) as file:
        _check(path, "episodes", file.schema_arrow)
        return int(file.metadata.num_rows)


def read_episode(folder: Path, number: int, name: str) -> Episode:
    """Read one episode of a shard, with its decisions and the calls behind them."""
    own = pc.field("episode") == name
    calls = _read_calls(folder, number).filter(own)
    prompts = _read(folder, "prompts", number)
    behind = calls_by_decision(calls, prompts.filter(pc.field("id").isin(pc.unique(calls["prompt"]))))
    decisions = _decisions(_read(folder, "decisions", number).filter(own), behind)
    for row in _read(folder, "episodes", number).filter(pc.field("id") == name).to_pylist():
        return _episode(row, decisions.get(row["id"], []))
    raise BadRecord(f"Shard {number} of {folder} has no episode {name}.")


def read_columns(folder: Path, name: str, number: int, columns: Sequence[str]) -> pa.Table:
    """Read some columns of one table of a shard."""
    return _read(folder, name, number, columns)


def read_calls(folder: Path, number: int, keys: Sequence[DecisionKey]) -> dict[DecisionKey, Call]:
    """Return the first call behind each of some decisions of a shard."""
    calls = _read_calls(folder, number)
    calls = calls.filter(pc.equal(calls["index"], 0))
    calls = calls.filter(pc.is_in(calls["episode"], value_set=pa.array({key[0] for key in keys}, pa.string())))
    wanted = set(keys)
    names = ("episode", "turn", "seat", "attempt")
    rows = zip(*(calls[name].to_pylist() for name in names), strict=True)
    calls = calls.take([number for number, key in enumerate(rows) if key in wanted])
    prompts = _read(folder, "prompts", number)
    prompts = prompts.filter(pc.is_in(prompts["id"], value_set=pc.unique(calls["prompt"])))
    return {key: calls_there[0] for key, calls_there in calls_by_decision(calls, prompts).items()}


def _read_calls(folder: Path, number: int) -> pa.Table:
    """Read the calls of a shard with their times, which were among them up to version 8, and ids of answers."""
    calls = _read(folder, "calls", number)
    if "ms" in calls.column_names:
        return calls.append_column("answer_id", pa.array([""] * len(calls), pa.string()))
    timings = _read(folder, "timings", number)
    places = {key: place for place, key in enumerate(_call_keys(timings))}
    rows = [places.get(key) for key in _call_keys(calls)]
    if None in rows:
        raise BadRecord(f"{_path(folder / 'timings', number)} lacks the time of a call.")
    own = timings.select(["ms", "answer_id"]).take(pa.array(rows, pa.int64()))
    return calls.append_column("ms", own["ms"]).append_column("answer_id", own["answer_id"])


def _call_keys(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield the key of the call of each row."""
    return zip(*(table[name].to_pylist() for name in CALL_KEY), strict=True)


def _read(folder: Path, name: str, number: int, columns: Sequence[str] | None = None) -> pa.Table:
    path = _path(folder / name, number)
    with _telling_damage(path):
        schema = read_bounded_schema(path)
        _check(path, name, schema)
        wanted = None if columns is None else [column for column in columns if column in schema.names]
        # `pq.read_table` reads the same, and first loads `pyarrow.dataset`, which takes a fifth of a second; threads
        # take longer to start than a shard to read
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = as_now(name, file.read(columns=wanted, use_threads=False))
        check_values(path, name, table)
    for column in LATER.get(name, {}):
        if column not in schema.names and (columns is None or column in columns):
            table = table.append_column(SCHEMAS[name].field(column), _earlier(table, name, column))
    return table


def _earlier(table: pa.Table, name: str, column: str) -> pa.Array | pa.ChunkedArray:
    """Return a column that a file of an earlier version lacks: a decision's clock was its turn."""
    kind = SCHEMAS[name].field(column).type
    if f"{name}.{column}" in NULLABLE:
        return pa.nulls(len(table), kind)
    if column == "min_p":
        return pa.array([0.0] * len(table), kind)
    return table["turn"] if column == "clock" else pa.array(["" if kind == pa.string() else []] * len(table), kind)


@contextmanager
def _telling_damage(path: Path) -> Iterator[None]:
    """Turn errors of a file that cannot be read into one sentence."""
    try:
        yield
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or ["it is damaged"])[0].rstrip(".")
        raise BadRecord(f"{path} cannot be read: {reason}.") from error


def damage_of(folder: Path) -> list[str]:
    """Return a sentence for each file of a record's shards that is missing or has no readable end, as a cut one has.

    Only the ends are read, which takes a moment; damage within a file shows when it is read.
    """
    return [said for number in shards(folder) for name in SCHEMAS if (said := _damage(folder, name, number))]


def _damage(folder: Path, name: str, number: int) -> str:
    path = _path(folder / name, number)
    if name == "timings" and not path.exists():  # records up to version 8 have none
        return ""
    try:
        with _telling_damage(path):
            _check(path, name, pq.read_schema(path))
    except BadRecord as error:
        return str(error)
    return ""


def _check(path: Path, name: str, schema: pa.Schema) -> None:
    """Refuse a file of another version, and one that lacks columns."""
    version = (schema.metadata or {}).get(b"stratagem_schema_version", b"none").decode()
    if version not in map(str, READABLE):
        known = ", ".join(map(str, READABLE))
        raise BadRecord(f"{path} has schema version {version}, and this program reads versions {known}.")
    later = {column for column, since in LATER.get(name, {}).items() if int(version) < since}
    if missing := set(SCHEMAS[name].names) - set(schema.names) - later:
        raise BadRecord(f"{path} has no column {', '.join(sorted(missing))}.")
    check_types(path, name, schema, int(version))


def _decisions(table: pa.Table, behind: dict[DecisionKey, tuple[Call, ...]]) -> dict[str, list[Decision]]:
    by_episode: dict[str, list[Decision]] = {}
    columns = [table.column(name).to_pylist() for name in DECISIONS.names]
    for values in zip(*columns, strict=True):
        row = dict(zip(_DECISION_FIELDS, values[1:], strict=True))
        row["parts"] = tuple(ActionPart(**part) for part in row["parts"])
        if behind:
            row["calls"] = behind.get((values[0], row["turn"], row["seat"], row["attempt"]), ())
        by_episode.setdefault(values[0], []).append(Decision(**row))
    return by_episode


def _episode(row: dict[str, Any], decisions: list[Decision]) -> Episode:
    row["players"], row["slots"] = tuple(row["players"]), tuple(row["slots"])
    row["rounds"] = [tuple(payoffs) for payoffs in row["rounds"]]
    row["signals"] = {signal["name"]: [tuple(values) for values in signal["rounds"]] for signal in row["signals"]}
    row["pasts"] = tuple(map(_past, row["pasts"]))
    row["stakes"] = tuple(stakes and Stakes(**stakes) for stakes in row["stakes"])
    return Episode(**row, decisions=decisions)


def _past(row: dict[str, Any]) -> Past:
    counts = {tuple(item["joint"]): item["count"] for item in row["counts"]}
    return Past(counts, None if row["last"] is None else tuple(row["last"]), row["rounds"])
