"""Rollouts of verifiers: `traces.jsonl` of its evaluations, and `results.jsonl` of releases before 0.2.

A line of `traces.jsonl` is an episode: its task has a digest of its content, which is the item, and each agent a trace
with rewards and metrics. A line of `results.jsonl` is a rollout of an example. Rollouts are repeats of an item. An
episode that failed has no score, for the reason `error` or `timeout`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small
from stratagem.connect.logs.base import (
    LogColumns,
    LogFile,
    LogFormat,
    LogScores,
    bound_scores,
    field_of,
    nothing_called,
    number_of,
    text_of_field,
)
from stratagem.measure.logs.scores import ItemScore

_REWARD = "reward"
"""Measure that a log has without a name: the weighted sum of its rewards."""


class VerifiersTraces(LogFormat):
    """Rollouts of verifiers."""

    label: ClassVar[str] = "verifiers' traces.jsonl or results.jsonl"

    def recognises(self, file: LogFile) -> bool:
        row = file.first_row
        return {"task", "traces", "env"} <= row.keys() or {"example_id", "reward"} <= row.keys()

    def read(self, file: LogFile, columns: LogColumns) -> LogScores:
        of_rollouts = "example_id" in file.first_row
        system = _model_beside(file) if of_rollouts else ""
        rows: list[ItemScore] = []
        names: set[str] = set()
        for number, row in file.rows():
            where = f"Line {number} of {file.path}"
            try:
                found = _of_rollout(row, columns, system, where) if of_rollouts else _of_episode(row, columns, where)
                for score, known in found:
                    rows.append(score)
                    names |= known
            except (KeyError, TypeError, AttributeError) as error:
                raise BadRecord(f"{where} is no rollout of verifiers: it has no {error}.") from error
            except (ValueError, OverflowError) as error:
                raise BadRecord(f"{where} has a reward that is no number: {str(error)[:100]}.") from error
            if columns.cluster and rows and rows[-1].cluster is None:
                raise nothing_called("cluster", columns.cluster, _fields(row), file.path)
        if columns.score and not any(row.score is not None for row in rows):
            raise nothing_called("score", columns.score, names, file.path)
        models = {row.system for row in rows if row.system}
        if columns.system and not models:
            raise nothing_called("system", columns.system, _agent_fields(file.first_row), file.path)
        only = next(iter(models)) if len(models) == 1 else file.path.parent.name
        named = (one._replace(system=one.system or only) for one in _for_all_agents(rows, columns.score or _REWARD))
        return LogScores(bound_scores(named, file.path), one_system=len(models) < 2)


def _for_all_agents(rows: Sequence[ItemScore], name: str) -> Iterator[ItemScore]:
    """Yield scores; an episode without agents lacks that of each agent of its environment."""
    agents: dict[str, dict[tuple[str, str], None]] = {}
    for row in rows:
        if not row.measure.endswith("/"):
            agents.setdefault(row.measure.rpartition("/")[0], {})[row.system, row.measure] = None
    for row in rows:
        if row.measure.endswith("/"):
            for system, measure in agents.get(row.measure[:-1]) or [("", row.measure + name)]:
                yield row._replace(system=system, measure=measure)
        else:
            yield row


def _of_episode(row: Mapping[str, Any], columns: LogColumns, where: str) -> Iterator[tuple[ItemScore, set[str]]]:
    """Yield the score of each agent of an episode, and of an episode without agents why it has none."""
    task, data = row["task"], row["task"].get("data") or {}
    item = text_of_field(field_of(row, columns.item)) if columns.item else str(task.get("hash") or data.get("idx"))
    if item is None:
        raise BadRecord(f"{where} has no {columns.item}.")
    env = str((row.get("env") or {}).get("id") or "verifiers")
    cluster = text_of_field(field_of({**data, **row}, columns.cluster)) if columns.cluster else None
    traces = list(row["traces"])
    several = len({(trace["agent"] or {}).get("name") for trace in traces}) > 1
    for trace in traces or [{}]:
        agent = trace.get("agent") or {}
        scores = _scores(trace)
        name = columns.score or _REWARD
        score = number_of(scores.get(name), where)
        measure = f"{env}/{agent.get('name')}.{name}" if several else f"{env}/{name}" if traces else f"{env}/"
        why = "" if score is not None else _why_missing(row, trace)
        model = text_of_field(field_of(agent, columns.system or "config.model")) or ""
        yield ItemScore(item, model, score, measure, cluster, str(row.get("id", "")), why), {*scores}


def _scores(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return metrics and rewards by name, and their weighted sum; none where scoring did not run."""
    rewards = {name: one for name, one in (trace.get("rewards") or {}).items() if one is not None}
    if not trace.get("ok", False):
        return {}
    total = sum(float(one["score"]) * float(one.get("weight", 1.0)) for one in rewards.values())
    return {
        **(trace.get("metrics") or {}),
        **{name: one["score"] for name, one in rewards.items()},
        **({_REWARD: total} if rewards else {}),
    }


def _why_missing(row: Mapping[str, Any], trace: Mapping[str, Any]) -> str:
    if row.get("is_timeout") or trace.get("is_timeout"):
        return "timeout"
    return "error" if row.get("errors") or trace.get("errors") or not row.get("ok", True) else "no score"


def _of_rollout(
    row: Mapping[str, Any], columns: LogColumns, system: str, where: str
) -> Iterator[tuple[ItemScore, set[str]]]:
    """Yield the score of a rollout of an example."""
    name = columns.score or _REWARD
    score = None if row.get("error") else number_of(field_of(row, name), where)
    item = text_of_field(field_of(row, columns.item or "example_id"))
    if item is None:
        raise BadRecord(f"{where} has no {columns.item or 'example_id'}.")
    info = row.get("info")
    known = {**row, **info} if isinstance(info, Mapping) else row
    cluster = text_of_field(field_of(known, columns.cluster)) if columns.cluster else None
    model = (text_of_field(field_of(row, columns.system)) or "") if columns.system else system
    why = "" if score is not None else "error" if row.get("error") else "no score"
    measure = f"{row.get('task') or 'verifiers'}/{name}"
    numbers = {key for key, value in row.items() if isinstance(value, int | float)}
    yield ItemScore(item, model, score, measure, cluster, "", why), numbers


def _model_beside(file: LogFile) -> str:
    """Return the model that `metadata.json` beside the rollouts names; empty where there is none."""
    try:
        data = parse_json(read_small(file.path.with_name("metadata.json")))
        return str(data["model"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _agent_fields(row: Mapping[str, Any]) -> list[str]:
    """Return the fields among which a system is looked for: those of an agent, or of a rollout."""
    traces = row.get("traces")
    agent = traces[0].get("agent") if isinstance(traces, list) and traces else None
    return [*agent] if isinstance(agent, Mapping) else [*row]


def _fields(row: Mapping[str, Any]) -> list[str]:
    inner = row.get("info") or (row.get("task") or {})
    data = inner.get("data") if isinstance(inner, Mapping) else None
    return [*row, *(data if isinstance(data, Mapping) else ())]
