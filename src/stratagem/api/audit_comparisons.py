"""Comparisons of two audits: `compare_audits` returns the change of each figure, with the outcomes of conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from stratagem.api.arguments import as_output, as_path, names_of
from stratagem.api.audits import status_of
from stratagem.api.mistakes import one_sentence
from stratagem.api.result import PlottedResult
from stratagem.base.files import write_file
from stratagem.games.base import Json
from stratagem.measure.audit.card import Card, read_card
from stratagem.measure.audit.compare import FigureChange, against_name, as_figures, changes, left_out
from stratagem.measure.audit.condition import Condition, Outcome, check_conditions, read_condition
from stratagem.measure.audit.junit import figures_as_junit
from stratagem.measure.audit.measurement import Measurement
from stratagem.show.audit.card_tables import changes_table
from stratagem.show.table import ResultTable

__all__ = ["AuditComparison", "JudgedComparison", "compare_audits"]


class JudgedComparison(PlottedResult):
    """Comparison with conditions on its differences."""

    conditions: tuple[Condition, ...]

    @property
    def figures(self) -> Mapping[str, Measurement]:
        """Differences by the names that conditions have."""
        raise NotImplementedError

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Outcome of each condition by its text."""
        figures = self.figures
        return {condition.text: condition.outcome(figures) for condition in self.conditions}

    @property
    def reasons(self) -> dict[str, str]:
        """Reason of each condition that is inconclusive."""
        figures, outcomes = self.figures, self.outcomes
        found = [one for one in self.conditions if outcomes[one.text] == "inconclusive"]
        silent = "An agent gave no reply to most questions."
        return {
            one.text: one.why_inconclusive(figures) if one.outcome(figures) == "inconclusive" else silent
            for one in found
        }

    @property
    def exit_status(self) -> int:
        """1 if a condition holds, 3 if one could not be judged."""
        return status_of(self.outcomes.values())

    def judgements(self) -> list[str]:
        """Return the outcomes of conditions, with the reasons of inconclusive ones."""
        reasons = {text: f" {reason}" for text, reason in self.reasons.items()}
        return [f"{text}: {outcome}.{reasons.get(text, '')}" for text, outcome in self.outcomes.items()]

    def write_junit(self, path: Path, title: str, figures: Iterable[Measurement]) -> None:
        """Write figures and conditions as JUnit XML."""
        write_file(path, figures_as_junit(title, figures, {}, self.outcomes, self.reasons))


@dataclass(frozen=True, repr=False)
class AuditComparison(JudgedComparison):
    """Changes between two audits, with the outcomes of conditions."""

    _marks: ClassVar[bool] = False

    before: Card
    after: Card
    changes: tuple[FigureChange, ...]
    conditions: tuple[Condition, ...] = ()

    @property
    def figures(self) -> Mapping[str, Measurement]:
        """Differences by their names in a card with a baseline, such as kuhn.exploitability.against."""
        return {figure.name: figure for figure in as_figures(self.changes, self.before)}

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Outcome of each condition by its text; beside an agent that gave no replies none can be excluded."""
        silent = self.before.unanswered or self.after.unanswered
        return {text: "inconclusive" if silent and one != "holds" else one for text, one in super().outcomes.items()}

    def rows(self) -> list[Json]:
        """Return one row for each figure that both have."""
        return [change.to_json() for change in self.changes]

    def to_json(self) -> Json:
        """Return the changes, as `stratagem compare --json` prints them."""
        known = {"conditions": self.outcomes} if self.conditions else {}
        return {"before": self.before.agent, "after": self.after.agent, "changes": self.rows(), **known}

    def tables(self) -> list[ResultTable]:
        return [changes_table(self.before, self.after, self.changes)]

    def remarks(self) -> list[str]:
        """Name the figures that changed beyond their limits, and the outcomes of conditions."""
        changed = [change.name for change in self.changes if change.changed]
        verdict = f"Changed: {', '.join(changed)}." if changed else "No figure changed beyond its limits."
        return [verdict, *left_out(self.before, self.after), *self.judgements()]

    def forms(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writer of JUnit's form, `.xml`."""
        title = f"{self.after.agent} less {self.before.agent}"
        return {**super().forms(), ".xml": lambda path: self.write_junit(path, title, self.figures.values())}


@one_sentence
def compare_audits(
    before: str | Path, after: str | Path, *, fail_if: str | Sequence[str] = (), junit: str | Path | None = None
) -> AuditComparison:
    """Compare two audits: the change of each figure, with limits that cover.

    Args:
        before: Folder of the first audit, or its card.
        after: Folder of the second audit, or its card.
        fail_if: Conditions that fail the comparison: 'kuhn.exploitability.against.lower > 0'.
        junit: File for the comparison as JUnit XML.
    """
    conditions = [read_condition(text) for text in names_of(fail_if, "condition")]
    out = as_output(junit)
    first, second = (read_card(as_path(path, "audit")) for path in (before, after))
    names = [against_name(name) for name in {**first.by_name, **second.by_name}]
    check_conditions(conditions, names, "comparison")
    result = AuditComparison(first, second, tuple(changes(first, second)), tuple(conditions))
    if out is not None:
        result.forms()[".xml"](out)
    return result
