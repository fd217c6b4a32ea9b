"""Comparisons: `compare` reads two audits, or the logs of evaluations that this and other tools wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stratagem.api.arguments import as_output, as_path, names_of, several
from stratagem.api.audit_comparisons import AuditComparison, JudgedComparison, compare_audits
from stratagem.api.mistakes import one_sentence
from stratagem.base.errors import BadParameter
from stratagem.base.files import parse_json, read_small
from stratagem.base.named_files import is_file
from stratagem.base.options import is_number
from stratagem.connect.logs.base import LogColumns
from stratagem.connect.logs.catalogue import read_logs
from stratagem.games.base import Json
from stratagem.measure.audit.card import FILE
from stratagem.measure.audit.condition import Condition, check_conditions, read_condition
from stratagem.measure.audit.measurement import Measurement
from stratagem.measure.logs.comparison import ScoreComparison, compare_scores, figures_of
from stratagem.measure.logs.scores import ScoreTable
from stratagem.measure.resumable import read_plan
from stratagem.show.log_tables import comparisons_table, summarise_comparisons
from stratagem.show.table import ResultTable

__all__ = ["LogComparison", "compare"]


@dataclass(frozen=True, repr=False)
class LogComparison(JudgedComparison):
    """Differences of systems over the items of logs, with the outcomes of conditions."""

    comparisons: tuple[ScoreComparison, ...]
    """Each further system less the first, for every measure."""
    conditions: tuple[Condition, ...] = ()
    difference: float | None = None
    """Wished difference, for which the number of items is given."""

    @property
    def figures(self) -> Mapping[str, Measurement]:
        """Differences by their names; the only one of a call is also `difference`."""
        return figures_of(self.comparisons)

    def rows(self) -> list[Json]:
        """Return one row for each comparison."""
        return [one.to_json() for one in self.comparisons]

    def to_json(self) -> Json:
        """Return the comparisons, as `stratagem compare --json` prints them."""
        return {"comparisons": self.rows(), "conditions": self.outcomes}

    def first_lines(self) -> list[str]:
        """Return the verdict of each comparison."""
        return summarise_comparisons(self.comparisons)

    def tables(self) -> list[ResultTable]:
        return [comparisons_table(self.comparisons, self.difference)]

    def remarks(self) -> list[str]:
        """Return how to score what is missing, and the outcomes of conditions with the reasons of inconclusive ones."""
        how = ["`missing=0` scores what is missing for a reason."] * any(one.bounds for one in self.comparisons)
        return [*how, *self.judgements()]

    def forms(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writer of JUnit's form, `.xml`."""
        title = f"systems less {self.comparisons[0].first}"
        figures = [one.measurements()[0] for one in self.comparisons]
        return {".xml": lambda path: self.write_junit(path, title, figures)}


@one_sentence
def compare(
    logs: str | Path | Sequence[str | Path],
    *,
    baseline: str = "",
    item: str = "",
    system: str = "",
    score: str = "",
    cluster: str = "",
    repeat: str = "",
    missing: float | None = None,
    difference: float | None = None,
    fail_if: str | Sequence[str] = (),
    junit: str | Path | None = None,
) -> AuditComparison | LogComparison:
    """Compare systems by the logs of evaluations, or two audits: paired differences with limits that cover.

    It reads logs of inspect, lm-eval and verifiers, Kaggle's replays, CSV and JSON lines. Epochs, rollouts and filters
    are repeats of one item. Holm's correction is over all comparisons of the call.

    Args:
        logs: Logs, as in a.eval b.eval or NAME=PATH, each system less the first; or two audits, by folder or card.
        baseline: System that the others are compared with; the first by default.
        item: Column or field that names the item; by default that of the format.
        system: Column or field that names the system.
        score: Column, scorer or metric: exact_match, or exact_match,strict-match for one filter.
        cluster: Column or field of groups of items that are alike, as those about one text.
        repeat: Column of the number of the answer, where an item has several.
        missing: Score of answers that are missing for a reason, such as 0; without it they get bounds and no claim.
        difference: Wished difference: prints the number of items that would show it.
        fail_if: Conditions that fail the comparison: 'difference.lower < -0.02', or SYSTEM.SCORE for one of several;
            of two audits 'kuhn.exploitability.against.lower > 0'.
        junit: File for the comparison as JUnit XML.
    """
    paths = several(logs, "log")
    columns = {"item": item, "system": system, "score": score, "cluster": cluster, "repeat": repeat}
    conditions = [read_condition(text) for text in names_of(fail_if, "condition")]
    if any(_is_audit(path) for path in paths):
        given = [name for name, value in columns.items() if value]
        given += ["baseline"] * bool(baseline)
        given += [name for name, value in (("missing", missing), ("difference", difference)) if value is not None]
        _check_two_audits(paths, given)
        return compare_audits(*paths, fail_if=fail_if, junit=junit)
    out = as_output(junit)
    for name, value in (("missing", missing), ("difference", difference)):
        if value is not None and not is_number(value):
            raise BadParameter(f"compare needs `{name}` as a number, not {value!r}.")
    if difference is not None and difference <= 0:
        raise BadParameter(f"compare needs `difference` above 0, not {difference!r}.")
    table = ScoreTable(read_logs([_as_log(path) for path in paths], LogColumns(**columns)), missing)
    found = compare_scores(table, _known_system(table, baseline), difference)
    check_conditions(conditions, figures_of(found), "comparison")
    result = LogComparison(tuple(found), tuple(conditions), difference)
    if out is not None:
        result.forms()[".xml"](out)
    return result


def _as_log(path: object) -> str:
    return str(as_path(path, "log"))


def _is_audit(given: object) -> bool:
    """Return whether a path is an audit, finished or not, or its card."""
    path = as_path(given, "log")
    if path.is_dir():
        return (path / FILE).exists() or (read_plan(path) or {}).get("command") == "audit"
    if path.suffix != ".json":
        return False
    try:
        data = parse_json(read_small(path))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and "card" in data and "figures" in data


def _check_two_audits(paths: Sequence[str | Path], given: Sequence[str]) -> None:
    """Refuse another number of audits than two, and parameters that logs alone have."""
    others = [str(path) for path in paths if not _is_audit(path)]
    if len(paths) != 2 or any(map(is_file, map(Path, others))):  # of a folder the reader of cards says what it lacks
        raise BadParameter(
            f"compare takes two audits, or logs alone: {len(paths) - len(others)} of {len(paths)} are audits"
            f"{f', and {others[0]} is none' if others else ''}."
        )
    if given:
        raise BadParameter(
            f"Beside two audits leave out what logs alone have: {', '.join(f'`{one}=`' for one in given)}."
        )


def _known_system(table: ScoreTable, baseline: str) -> str:
    """Return the system that others are compared with; a single system is refused."""
    systems = table.systems()
    if baseline and baseline not in systems:
        raise BadParameter(f"There is no system {baseline!r}: there are {', '.join(systems)}.")
    if len(systems) < 2:
        raise BadParameter(
            f"There is one system, {systems[0]!r}, and nothing to compare it with: name a second log, a column of "
            "systems by `system=`, or two logs as A=PATH B=PATH."
        )
    return baseline or systems[0]
