"""Step rewards (SCO-PAL, stage II): a table with a row for each reply in each state.

The reward of a state-action pair is the mean of an advantage estimator over all its occurrences. Equal replies in equal
states are one row with a count, which is the row's weight in training. An illegal reply is undesirable, and the action
that replaced it is not counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from stratagem.algorithms.scopal.decision_table import DecisionTable
from stratagem.base.errors import BadRecord
from stratagem.base.files import removed_if_failed, telling
from stratagem.games.base import Json
from stratagem.games.bounded import make_bounded_game
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats, Ints
from stratagem.learn.advantages.segments import cells
from stratagem.learn.advantages.spag import SPAGReward
from stratagem.playing.parquet_size import read_bounded_schema

SCHEMA_VERSION = 1
_VERSION = b"stratagem_steps_version"
COLUMNS: dict[str, tuple[pa.DataType, str]] = {
    "game": (pa.string(), "The game, as `make_game` takes it."),
    "role": (pa.int64(), "The first seat that is told the same rules."),
    "state_key": (pa.string(), "Information state of the seat, by the game's own key."),
    "action": (pa.string(), "Action; null for an illegal reply."),
    "reply": (pa.string(), "Reply; of a player without a model, its action."),
    "prompt": (pa.string(), "Id of the model's prompt; null for other players."),
    "count": (pa.int64(), "Number of occurrences."),
    "outcome": (pa.float64(), "Sum of the outcomes: 1 for a win, a share for a tie, 0 for a loss."),
    "won": (pa.int64(), "Number of won games."),
    "reward": (pa.float64(), "Reward of the state-action pair; 0 for an illegal reply."),
    "advantage": (pa.float64(), "Reward less the threshold; -1 for an illegal reply."),
    "desirable": (pa.bool_(), "True if the advantage is positive."),
    "spag": (pa.float64(), "SPAG's reward, the mean over the occurrences; an illegal reply counts as lost."),
    "folder": (pa.int32(), "Number of the record of the first occurrence."),
    "shard": (pa.int32(), "Shard of the first occurrence."),
    "episode": (pa.string(), "Episode of the first occurrence."),
    "turn": (pa.int32(), "Turn of the first occurrence."),
    "seat": (pa.int32(), "Seat of the first occurrence."),
    "attempt": (pa.int32(), "Attempt of the first occurrence."),
}
"""Columns of a table of steps with their types and meanings; a row for each reply in each state."""
SCHEMA = pa.schema(
    [(name, kind) for name, (kind, _) in COLUMNS.items()], metadata={_VERSION: str(SCHEMA_VERSION).encode()}
)


_MAY_BE_NULL = ("action", "prompt")


@dataclass(frozen=True)
class Steps:
    """Table of steps, and the folders of its records."""

    rows: pa.Table
    folders: tuple[Path, ...]


def make_steps(table: DecisionTable, folders: Sequence[Path], estimator: AdvantageEstimator) -> Steps:
    """Return the table of every reply in every state, with its reward."""
    _check_winners(table)
    state = cells(table.game.codes, table.role, table.state.codes).of
    estimate = _estimate(table, state, estimator)
    row = cells(state, table.prompt.codes, table.reply.codes)
    order = np.argsort(row.first)
    first = row.first[order]
    legal, pairs = table.legal[first], cells(state, table.action.codes, table.legal.astype(np.int64))
    reward, advantage = (pairs.mean(values)[first] for values in (_returns(estimate), estimate.advantage))
    columns: dict[str, Any] = {
        "game": table.game.at(first),
        "role": table.role[first],
        "state_key": table.state.at(first),
        "action": pc.if_else(pa.array(legal), table.action.at(first), None),
        "reply": table.reply.at(first),
        "prompt": table.prompt.at(first),
        "count": row.sizes[order].astype(np.int64),
        "outcome": row.total(table.outcome)[order],
        "won": row.total((table.outcome == 1.0).astype(np.float64))[order].astype(np.int64),
        "reward": np.where(legal, reward, 0.0),
        "advantage": np.where(legal, advantage, -1.0),
        "desirable": legal & (advantage > 0.0),
        "spag": _lost_if_illegal((row.total(_spag(table)) / row.sizes)[order], legal),
    }
    origin = table.rows.take(pa.array(first))
    columns |= {name: origin[name] for name in ("folder", "shard", "episode", "turn", "seat", "attempt")}
    return Steps(pa.table(columns, schema=SCHEMA), tuple(folders))


def _estimate(table: DecisionTable, state: Ints, estimator: AdvantageEstimator) -> AdvantageEstimate:
    return estimator(
        Decisions(
            episode=table.trajectory,
            state=state,
            action=table.action.codes,
            outcome=table.outcome,
            keep=table.legal,
        )
    )


def _returns(estimate: AdvantageEstimate) -> Floats:
    return estimate.advantage if estimate.returns is None else estimate.returns


def _spag(table: DecisionTable) -> Floats:
    return SPAGReward()(Decisions(episode=table.trajectory, outcome=table.outcome)).advantage


def _lost_if_illegal(spag: Floats, legal: Any) -> Floats:
    """Give an illegal reply the reward of a lost game, whatever the outcome was."""
    return np.where(legal, spag, -np.abs(spag))


def _check_winners(table: DecisionTable) -> None:
    """Refuse games without a winner, in which all steps have the same reward."""
    for code, text in enumerate(table.game.texts.to_pylist()):
        if make_bounded_game(text).spec.seats == 1:
            raise BadRecord(f"{text} has one seat, so there is nobody to win against: leave it out.")
        seen = table.outcome[table.game.codes == code]
        if len(seen) and not np.isin(seen, (0.0, 1.0)).any():
            raise BadRecord(f"In {text} nobody ever won: all its {len(seen)} decisions led to ties, so leave it out.")


def write_steps(steps: Steps, path: Path) -> None:
    """Write the table in one piece; the paths of its records are relative to it."""
    relative = [os.path.relpath(folder, path.parent) for folder in steps.folders]
    metadata = {**SCHEMA.metadata, b"folders": "\n".join(relative).encode()}
    partial = path.with_name(path.name + ".partial")
    with telling(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with removed_if_failed(partial):
            pq.write_table(steps.rows.replace_schema_metadata(metadata), partial, compression="zstd")
            partial.replace(path)


def read_steps(path: Path) -> Steps:
    """Read the table in a file."""
    if not path.is_file():
        raise BadRecord(f"There is no file {path}: `stratagem steps` writes such tables.")
    try:
        read_bounded_schema(path)
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise BadRecord(f"{path} cannot be read: {str(error).splitlines()[0]}.") from error
    metadata = table.schema.metadata or {}
    if (version := metadata.get(_VERSION, b"none").decode()) != str(SCHEMA_VERSION):
        raise BadRecord(f"{path} has steps version {version}, and this program reads version {SCHEMA_VERSION}.")
    if missing := [name for name in SCHEMA.names if name not in table.schema.names]:
        raise BadRecord(f"{path} has no column {', '.join(missing)}: `stratagem steps` writes such tables.")
    if not len(table):
        raise BadRecord(f"{path} holds no steps.")
    folders = filter(None, metadata.get(b"folders", b"").decode().split("\n"))
    steps = Steps(_cast(table, path), tuple(_locate_record(Path(folder), path) for folder in folders))
    _check_rows(steps, path)
    return steps


def _locate_record(folder: Path, path: Path) -> Path:
    """Return the path of a record, relative to its table; older tables hold paths from the working folder."""
    beside = Path(os.path.normpath(path.parent / folder))
    return beside if beside.exists() or not folder.exists() else folder


def _cast(table: pa.Table, path: Path) -> pa.Table:
    """Cast the columns to the types of the schema."""
    columns = {}
    for field in SCHEMA:
        try:
            columns[field.name] = table[field.name].cast(field.type)
        except pa.ArrowException as error:
            kind, wanted = table.schema.field(field.name).type, field.type
            raise BadRecord(f"{path} has a column {field.name} of {kind} that cannot be read as {wanted}.") from error
    return pa.table(columns, schema=SCHEMA)


def _check_rows(steps: Steps, path: Path) -> None:
    """Refuse rows that cannot be trained on."""
    rows = steps.rows
    for name in SCHEMA.names:
        if rows[name].null_count and name not in _MAY_BE_NULL:
            raise BadRecord(f"{path} has rows without a {name}.")
    for name in ("outcome", "reward", "advantage", "spag"):
        if not np.isfinite(rows[name].to_numpy()).all():
            raise BadRecord(f"{path} has a {name} that is no finite number.")
    if pc.min(rows["count"]).as_py() < 1:
        raise BadRecord(f"{path} has a count below 1: a row was said at least once.")
    if not 0 <= pc.min(rows["folder"]).as_py() <= pc.max(rows["folder"]).as_py() < len(steps.folders):
        raise BadRecord(f"{path} has rows of a folder that it does not name.")


def summarize(steps: Steps) -> Json:
    """Return the figures of each game and of all games together (SCO-PAL, tables 8 and 10)."""
    rows = steps.rows.select(["game", "action", "count", "desirable"])
    named = {game: _figures(rows.filter(pc.equal(rows["game"], game))) for game in rows["game"].unique().to_pylist()}
    return {"games": named, "all": _figures(rows)}


def _figures(rows: pa.Table) -> dict[str, float]:
    """Count samples by their frequency."""
    samples = pc.sum(rows["count"]).as_py()
    legal = pc.sum(rows.filter(pc.is_valid(rows["action"]))["count"]).as_py() or 0
    advantageous = pc.sum(rows.filter(rows["desirable"])["count"]).as_py() or 0
    summary: Json = {
        "samples": samples,
        "valid": legal / samples,
        "rows": len(rows),
        "unique_actions": pc.count_distinct(rows["action"]).as_py(),
        "advantageous": advantageous,
        "ratio": advantageous / (samples - advantageous) if samples > advantageous else None,
    }
    return summary
