"""Results of `reproduce`: the list of published tables, the plan of their runs, and printed figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from stratagem.api.result import Result
from stratagem.base.provenance import provenance
from stratagem.games.base import Json
from stratagem.show.cells import number
from stratagem.show.table import Numbers, ResultTable, text_table
from stratagem.sweeps.reproduction.published import PublishedPaper, PublishedTable

if TYPE_CHECKING:
    from stratagem.sweeps.reproduction.table_maker import PublishedFigure
    from stratagem.sweeps.reproduction.table_plan import PlanSize, TablePlan

GIB = 2.0**30

__all__ = ["PublishedTables", "Reproduction", "ReproductionPlan", "TableState"]


@dataclass(frozen=True)
class TableState:
    """Published table, and the scales at which it was made here."""

    name: str
    """Short name of the paper."""
    paper: PublishedPaper
    table: PublishedTable
    made: tuple[tuple[str, str, int], ...]
    """Scale, date and number of finished runs of each reproduction here."""

    @property
    def words(self) -> str:
        """State in words."""
        if self.table.cannot:
            return f"cannot be reproduced by runs: {self.table.cannot}"
        made = (f"{scale} on {date}, finished runs: {runs}" for scale, date, runs in self.made)
        return "; ".join(made) or "not run here"


@dataclass(frozen=True, repr=False)
class PublishedTables(Result):
    """Tables of the papers with their states. They are no measurements of here, so there is no picture."""

    states: tuple[TableState, ...]

    def rows(self) -> list[Json]:
        """Return one row for each table: its paper, its name, what it has, and its state."""
        return [
            {
                "paper": state.name,
                "table": state.table.id,
                "title": state.table.title,
                "place": state.table.place,
                "cannot": state.table.cannot,
                "made": [dict(zip(("scale", "date", "runs"), made, strict=True)) for made in state.made],
            }
            for state in self.states
        ]

    def tables(self) -> list[ResultTable]:
        names = dict.fromkeys(state.name for state in self.states)
        return [self._grid(name, [state for state in self.states if state.name == name]) for name in names]

    def _grid(self, name: str, states: Sequence[TableState]) -> ResultTable:
        possible = sum(not state.table.cannot for state in states)
        title = f"{states[0].paper.name}: {possible} of {len(states)} tables and figures can be reproduced"
        rows = [(f"{name}:{one.table.id}", one.table.title, one.table.place, one.words) for one in states]
        return text_table(title, ("table", "contents", "place", "state"), rows)

    def remarks(self) -> list[str]:
        """Return the way to one of them."""
        return ["A table is named, as in sepo:5, to make its runs and to print their figures beside its own."]


@dataclass(frozen=True, repr=False)
class ReproductionPlan(Result):
    """Runs of published tables with their estimate; nothing is run. It is no measurement, so there is no picture."""

    plans: tuple[TablePlan, ...]
    sizes: tuple[PlanSize, ...]

    def rows(self) -> list[Json]:
        """Return one row for each table: its runs, tokens, memory and hours."""
        return [
            {"table": plan.text, "scale": plan.scale, "folder": str(plan.folder), **asdict(size)}
            for plan, size in zip(self.plans, self.sizes, strict=True)
        ]

    def to_json(self) -> list[Json]:
        """Return the plan with the command of every run, as `stratagem reproduce --dry-run --json` prints it."""
        commands = [[run.command(plan.folder) for run in plan.list_runs()] for plan in self.plans]
        return [{**row, "commands": each} for row, each in zip(self.rows(), commands, strict=True)]

    def tables(self) -> list[ResultTable]:
        return [
            text_table(
                f"{plan.paper.name}, table {plan.table.id}, scale {plan.scale}",
                ("part", Numbers("number")),
                _parts(size),
            )
            for plan, size in zip(self.plans, self.sizes, strict=True)
        ]

    def remarks(self) -> list[str]:
        """Return what differs from the paper, the models of unknown size, the speeds, and the commands of the runs."""
        lines = [f"Differs from the paper: {text}" for plan in self.plans for text in plan.differs]
        lines += [f"The sizes of {', '.join(size.unknown)} are not known." for size in self.sizes if size.unknown]
        for plan in self.plans:
            measured = plan.paper.scales[plan.scale].measured
            why = (
                f"estimated from speeds of {measured}" if measured else "not known: no speed was measured at this scale"
            )
            lines.append(f"The hours of {plan.paper.name} are {why}.")
        return list(dict.fromkeys([*lines, *(run.command(p.folder) for p in self.plans for run in p.list_runs())]))


def _parts(size: PlanSize) -> list[tuple[str, str]]:
    return [
        ("runs", str(size.runs)),
        ("finished before", str(size.finished)),
        ("sampled tokens, at most", f"{size.sampled_tokens:,}"),
        ("trained tokens, at most", f"{size.trained_tokens:,}"),
        ("memory of the largest run, GiB", f"{size.bytes / GIB:.2f}" if size.bytes else "not known"),
        ("hours to run", "not known" if size.hours is None else f"{size.hours:.1f}"),
    ]


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """Published figures beside those of runs. The figures have no common axis, so there is no picture."""

    plans: tuple[TablePlan, ...]
    figures: tuple[tuple[PublishedFigure, ...], ...]
    """Figures of each table."""
    failed: tuple[str, ...] = ()
    """Runs that failed, each with its error."""

    @property
    def exit_status(self) -> int:
        """2 if a run failed, 1 if a figure is outside of a range that the table's file gives."""
        return 2 if self.failed else 1 if self.outside else 0

    def rows(self) -> list[Json]:
        """Return one row for each printed figure: the printed one, that of here, their difference, chance level."""
        return [
            {"table": plan.text, "scale": plan.scale, **figure.to_json()}
            for plan, figures in zip(self.plans, self.figures, strict=True)
            for figure in figures
        ]

    def to_json(self) -> Json:
        """Return the figures with their provenance, as `stratagem reproduce --json` prints them."""
        tables = [
            {"table": plan.text, "scale": plan.scale, "runs": plan.count_finished(), "differs": plan.differs}
            for plan in self.plans
        ]
        return {"tables": tables, "figures": self.rows(), "failed": list(self.failed), "made_by": provenance()}

    def tables(self) -> list[ResultTable]:
        return [
            text_table(
                f"{plan.paper.name}, table {plan.table.id}: {plan.table.title}; scale {plan.scale}",
                ("row", "figure", *map(Numbers, ("printed", "here", "difference", "chance", "seeds"))),
                [_cells(figure) for figure in figures],
            )
            for plan, figures in zip(self.plans, self.figures, strict=True)
        ]

    def remarks(self) -> list[str]:
        """Return the meaning of the columns, the differences from the paper, and what is missing and why."""
        lines = [
            "printed: the paper's figure. here: mean over seeds with its 95 % interval (Student's t). difference: here "
            "less printed. chance: the same figure of random play.",
        ]
        lines += [f"Differs from the paper: {text}" for plan in self.plans for text in plan.differs]
        lines += [f"{one.row}: {one.why_not}" for figures in self.figures for one in figures if one.why_not]
        lines += [
            f"{figure.row}, {figure.column}: outside of {figure.spread[0]:.3f} to {figure.spread[1]:.3f}, the range "
            "in which one seed is expected."
            for figure in self.outside
            if figure.spread
        ]
        return [*dict.fromkeys(lines), *self.failed]

    @property
    def outside(self) -> list[PublishedFigure]:
        """Figures outside of the range in which one seed is expected."""
        return [figure for figures in self.figures for figure in figures if figure.is_outside]


def _cells(figure: PublishedFigure) -> tuple[str, ...]:
    here = figure.here
    mean = "–" if here is None else number(here.mean)
    interval = ""
    if here is not None and here.low is not None and here.high is not None:
        interval = f" [{number(here.low)}, {number(here.high)}]"
    difference = "–" if figure.difference is None else f"{figure.difference:+.3f}"
    level = "–" if figure.chance is None else number(figure.chance)
    seeds = "0" if here is None else str(here.n)
    return (figure.row, figure.column, figure.published or "–", mean + interval, difference, level, seeds)
