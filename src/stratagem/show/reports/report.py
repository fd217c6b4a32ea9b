"""Report of a run: read the run, make the sections, write one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.base.files import write_file
from stratagem.show.html import Html
from stratagem.show.reports.catalogue import sections
from stratagem.show.reports.dominated import find_flagged
from stratagem.show.reports.headline import headline_table, headlines
from stratagem.show.reports.page import header, page
from stratagem.show.reports.page import summary as head_of_page
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section
from stratagem.show.reports.stages import stages_of, titles
from stratagem.show.reports.verdict import verdict
from stratagem.training.runs.folder import RunFolder, Status, check_shown_links


def tiles(data: RunData) -> list[tuple[str, str]]:
    """Return the tiles of a run; a step is counted from the end of SFT, its label in the run from the beginning."""
    recipe = data.settings
    games = recipe.get("games") or recipe.get("game")
    kinds = _kinds(data)
    bare = bool(kinds) and set(kinds.values()) <= {"tabular", "scripted"}
    values = {
        "algorithm": data.algorithm,
        "game": ", ".join(map(str, games)) if isinstance(games, list) else str(games or ""),
        "seats": ", ".join(name if name == kind else f"{name} ({kind})" for name, kind in kinds.items()),
        "model": "" if bare else _models(recipe),
        "seed": str(data.info.seed),
        "SFT": f"{data.sft_steps} steps" if data.sft_steps else "",
        "steps": "" if data.last_step is None else str(data.last_step),
        "chosen step": "" if data.chosen_step is None else str(data.chosen_step),
    }
    return [(name, value) for name, value in values.items() if value]


def _models(recipe: Mapping[str, Any]) -> str:
    """Return the models of a run: that of all learners, or those that the learners name, each with its learners."""
    common, learners = str(recipe.get("model", "")), dict[str, list[str]]()
    for table in ("policies", "learners", "seats"):
        if isinstance(named := recipe.get(table), dict):
            for name, one in named.items():
                if isinstance(one, dict) and "model" in one:
                    learners.setdefault(str(one["model"]) or common, []).append(name)
    if not {*learners} - {common}:
        return common
    return ", ".join(f"{model} ({', '.join(names)})" for model, names in learners.items())


def _kinds(data: RunData) -> dict[str, str]:
    """Return the kinds of learners by seat, for a run that has several."""
    seats = data.settings.get("seats", {})
    tables = {name: seat for name, seat in seats.items() if isinstance(seat, dict)} if isinstance(seats, dict) else {}
    return {name: str(seat.get("learner", "")) for name, seat in tables.items()}


FILE = "report.html"


class RunReport(NamedTuple):
    """Report of a run as it is now: what a page is made of."""

    name: str
    status: Status
    data: RunData
    sections: Sequence[Section]

    @property
    def summary(self) -> Html:
        """Head of the report: its verdict, figures and facts."""
        return head_of_page(self._warning, verdict(self.data), tiles(self.data), self._figures)

    @property
    def html(self) -> str:
        """The page."""
        name, status = self.name, self.status
        top = header(name, status.state, self._warning, verdict(self.data), tiles(self.data), self._figures)
        return page(f"{name}: {status.state}", top, self.sections)

    @property
    def _warning(self) -> str:
        """Reason why the run failed, and damage to its record, which no figure would show."""
        return " ".join(filter(None, [self.status.sentence, *self.data.damaged_shards]))

    @property
    def _figures(self) -> Html:
        return headline_table(headlines(self.data))


def report_of(run: RunFolder) -> RunReport:
    """Read a run and make the sections of its report; one with links out of its folder is refused."""
    check_shown_links(run.path)
    data = RunData(run)
    return RunReport(run.name, data.status, data, sections(data))


def report_html(run: RunFolder) -> str:
    """Write the page of a run as it is now."""
    return report_of(run).html


def write_report(run: RunFolder, path: Path | None = None) -> Path:
    """Write the page, by default into the run's folder, and return its path."""
    target = path or run.path / FILE
    write_file(target, report_html(run))
    return target


def summary(run: RunFolder) -> dict[str, Any]:
    """Summarise a run: its status, verdict, figures by game and stage, and dominated actions."""
    data = RunData(run)
    findings = (
        None if data.findings is None else {name: finding.model_dump() for name, finding in data.findings.items()}
    )
    return {
        "run": run.name,
        "state": data.status.state,
        "sentence": data.status.sentence,
        "algorithm": data.algorithm,
        "seed": data.info.seed,
        "sft_steps": data.sft_steps,
        "step": data.last_step,
        "best_step": data.chosen_step,
        "verdict": verdict(data),
        "headlines": [headline.to_json() for headline in headlines(data)],
        "dominated": _dominated_by_stage(data),
        "findings": findings,
    }


def _dominated_by_stage(data: RunData) -> list[dict[str, Any]]:
    """Return the dominated actions by the stages' titles."""
    stage_titles = {
        game: titles(data, stages_of(policies, data.chosen_step)) for game, policies in data.policies.items()
    }
    return [
        action.to_json() | {"stages": {stage_titles[action.game][name]: share for name, share in action.stages.items()}}
        for action in find_flagged(data)
    ]
