"""A run at one moment: what a terminal shows of it, drawn in place or as lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Group, RenderableType

from stratagem.cli.run_figures import figure_line, figure_title, sparkline
from stratagem.games.base import Json
from stratagem.reports.files import Finding
from stratagem.reports.main_figures import MainFigure, main_figures
from stratagem.reports.numbers import short
from stratagem.reports.run_data import SFT_PREFIXES, RunData, finite
from stratagem.runs.folder import RunFolder
from stratagem.show.console import Text
from stratagem.show.table import Numbers
from stratagem.show.terminal import make_grid

_CURVES = ("/pay", "illegal_rate", "loss", "entropy", "reward", "points")
"""Ends of the names of the other metrics that are shown."""
_MOST = 8
_STYLES = {"running": "cyan", "finished": "green", "failed": "red"}


@dataclass(frozen=True)
class Snapshot:
    """Run at one moment."""

    name: str
    state: str
    sentence: str
    since: str
    algorithm: str
    seed: int
    sft_steps: int
    step: int
    best_step: int | None
    figures: tuple[MainFigure, ...]
    others: tuple[tuple[str, tuple[float, ...]], ...]
    """Values of other metrics by name."""
    findings: tuple[tuple[str, Finding], ...]
    unreadable: tuple[str, ...]

    def step_text(self, step: int) -> str:
        """Return a step after those of SFT, as `500+60`, whose sum is the label of the checkpoint."""
        return f"{self.sft_steps}+{step}" if self.sft_steps else str(step)

    def to_json(self) -> Json:
        """Return it as data."""
        return {
            "run": self.name, "state": self.state, "sentence": self.sentence, "since": self.since,
            "algorithm": self.algorithm, "seed": self.seed, "sft_steps": self.sft_steps, "step": self.step,
            "best_step": self.best_step, "figures": [_figure_json(figure) for figure in self.figures],
            "findings": {name: finding.model_dump() for name, finding in self.findings},
            "unreadable": list(self.unreadable),
        }  # fmt: skip


def snapshot(run: RunFolder) -> Snapshot:
    """Read a run as it is now; its status first, so that a finished run is read whole."""
    status, data = run.status(), RunData(run)
    figures = tuple(main_figures(data))
    return Snapshot(
        run.name, status.state, status.sentence, status.since, data.algorithm, data.info.seed, data.sft_steps,
        data.last_step or 0, data.chosen_step, figures, tuple(_others(data, {one.metric for one in figures})),
        tuple((data.findings or {}).items()), tuple(data.broken.values()),
    )  # fmt: skip


def _others(data: RunData, shown: set[str]) -> Iterator[tuple[str, tuple[float, ...]]]:
    before = SFT_PREFIXES if data.sft_steps else ()
    names = [name for end in _CURVES for name in data.curves if name == end or name.endswith(end)]
    fitting = [name for name in dict.fromkeys(names) if name not in shown and not name.startswith(before or "\0")]
    for name in fitting[:_MOST]:
        if values := tuple(finite(data.curves[name]).values()):
            yield name, values


def _figure_json(figure: MainFigure) -> Json:
    ends = {name: point and dict(zip(("step", "value"), point, strict=True)) for name, point in _ends(figure).items()}
    names = {"name": figure.name, "game": figure.game, "metric": figure.metric, "unit": figure.unit}
    return {**names, "better": figure.better, "chance": figure.chance, **ends}


def _ends(figure: MainFigure) -> dict[str, tuple[int, float] | None]:
    return {"start": figure.start, "best": figure.best, "last": figure.last}


def panel(now: Snapshot) -> RenderableType:
    """Draw the run: its status, its main figures and other metrics with their courses, and its checks."""
    lines = [_head(now)]
    figures = make_grid("", "figure", *map(Numbers, ("start", "best", "last", "chance", "course")))
    for figure in now.figures:
        ends = ["–" if point is None else f"{short(point[1])} ({point[0]})" for point in _ends(figure).values()]
        figures.add_row(
            Text(figure_title(figure)), *ends, short(figure.chance), sparkline(list(figure.points.values()))
        )
    others = make_grid("", "metric", *map(Numbers, ("first", "last", "course")))
    for name, values in now.others:
        others.add_row(Text(name), short(values[0]), short(values[-1]), sparkline(values))
    grids = [grid for grid in (figures, others) if grid.row_count]
    return Group(*lines, *grids, *(_finding(name, finding) for name, finding in now.findings), *_notes(now))


def _head(now: Snapshot) -> Text:
    head = Text(now.name, style="bold").append(f" {now.state}", style=_STYLES.get(now.state, ""))
    best = "" if now.best_step is None else f", best step {now.step_text(now.best_step)}"
    told = (
        f"  {now.algorithm or 'run'}, seed {now.seed}, step {now.step_text(now.step)}{best}, since {now.since or '–'}"
    )
    return head.append(told, style="not bold")


def _finding(name: str, finding: Finding) -> Text:
    style = "red" if finding.level == "fault" else "yellow"
    times = f"{finding.count} time{'s' * (finding.count != 1)}"
    step = "" if finding.step is None else f", first at step {finding.step}"
    return Text(f"{finding.level} {name}, {times}{step}: ", style=style).append(finding.first, style="default")


def _notes(now: Snapshot) -> Iterator[Text]:
    if now.sentence:
        yield Text(now.sentence, style="red")
    for sentence in now.unreadable:
        yield Text(sentence, style="red")


def changed_lines(before: Snapshot | None, now: Snapshot) -> Iterator[Text]:
    """Yield lines about what is new since the look before; of the first look all there is."""
    if before is None or (before.state, before.step) != (now.state, now.step):
        yield _head(now)
    known = {figure.metric: figure.points for figure in before.figures} if before else {}
    yield from (Text(figure_line(figure)) for figure in now.figures if known.get(figure.metric) != figure.points)
    found = {name: finding.count for name, finding in before.findings} if before else {}
    yield from (_finding(name, finding) for name, finding in now.findings if found.get(name) != finding.count)
    noted = list(_notes(before)) if before else []
    yield from (note for note in _notes(now) if note not in noted)
