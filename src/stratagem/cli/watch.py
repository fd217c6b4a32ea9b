"""`stratagem watch`: a run until it ends, in one terminal; from Python, `sg.load_run` and `sg.view` show it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live

from stratagem.base.number_texts import short
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.cli.parameters import JsonOption
from stratagem.games.base import Json
from stratagem.show.console import VisibleText
from stratagem.show.reports.files import FindingSchema
from stratagem.show.reports.main_figures import MainFigure, main_figures
from stratagem.show.reports.run_data import SFT_PREFIXES, RunData, finite
from stratagem.show.table import Numbers
from stratagem.show.terminal import make_grid
from stratagem.training.runs.folder import RunFolder

_BLOCKS = "▁▂▃▄▅▆▇█"
_ARROWS = {"higher": " ↑", "lower": " ↓"}


def sparkline(values: Sequence[float], width: int = 24) -> str:
    """Return the course of values in blocks, thinned to a width; the last value is always there."""
    count = min(width, len(values))
    shown = [values[round(place * (len(values) - 1) / max(1, count - 1))] for place in range(count)]
    low, high = min(shown, default=0.0), max(shown, default=0.0)
    top = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round((value - low) / (high - low) * top) if high > low else top // 2] for value in shown)


def figure_line(figure: MainFigure) -> str:
    """Describe a main figure in a line: start, best checkpoint, newest value, and chance level."""
    parts = [f"{short(figure.start[1])} at step {figure.start[0]}"]
    if figure.best is not None:
        parts.append(f"{short(figure.best[1])} at the best checkpoint, step {figure.best[0]}")
    if figure.last[0] != figure.start[0]:
        parts.append(f"{short(figure.last[1])} at step {figure.last[0]}")
    chance = "" if figure.chance is None else f"; chance {short(figure.chance)}"
    return f"{figure_title(figure)}: {', '.join(parts)}{chance}"


def figure_title(figure: MainFigure) -> str:
    """Return the name of a figure with its game, its unit and an arrow in the better direction."""
    of = f" of {figure.game}" if figure.game else ""
    return _title(f"{figure.name}{of}", figure.unit, figure.better)


def _title(name: str, unit: str, better: str) -> str:
    return f"{name}{f', {unit}' if unit else ''}{_ARROWS[better]}"


_CURVES = ("/payoff", "illegal_rate", "loss", "entropy", "reward", "points")
"""Ends of the names of the other metrics that are shown."""
_MOST = 8
_STYLES = {"running": "cyan", "finished": "green", "failed": "red", "interrupted": "yellow"}


@dataclass(frozen=True)
class RunSnapshot:
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
    start_is_best: bool
    """True if no checkpoint has a greater checkpoint metric than the start."""
    figures: tuple[MainFigure, ...]
    others: tuple[tuple[str, tuple[float, ...]], ...]
    """Values of other metrics by name."""
    findings: tuple[tuple[str, FindingSchema], ...]
    unreadable: tuple[str, ...]

    def step_text(self, step: int) -> str:
        """Return a step after those of SFT, as `500+60`, whose sum is the label of the checkpoint."""
        return f"{self.sft_steps}+{step}" if self.sft_steps else str(step)

    def to_json(self) -> Json:
        """Return it as data."""
        return {
            "run": self.name, "state": self.state, "sentence": self.sentence, "since": self.since,
            "algorithm": self.algorithm, "seed": self.seed, "sft_steps": self.sft_steps, "step": self.step,
            "best_step": self.best_step, "start_is_best": self.start_is_best,
            "figures": [_figure_json(figure) for figure in self.figures],
            "findings": {name: finding.model_dump() for name, finding in self.findings},
            "unreadable": list(self.unreadable),
        }  # fmt: skip


def snapshot(run: RunFolder) -> RunSnapshot:
    """Read a run as it is now; its status first, so that a finished run is read whole."""
    status, data = run.status(), RunData(run)
    figures = tuple(main_figures(data))
    return RunSnapshot(
        run.name, status.state, status.sentence, status.since, data.algorithm, data.info.seed, data.sft_steps,
        data.last_step or 0, data.chosen_step, data.start_is_best, figures,
        tuple(_others(data, {one.metric for one in figures})),
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


def panel(now: RunSnapshot) -> RenderableType:
    """Draw the run: its status, its main figures and other metrics with their courses, and its checks."""
    lines = [_head(now)]
    figures = make_grid("", "figure", *map(Numbers, ("start", "best", "last", "chance", "course")))
    for figure in now.figures:
        ends = ["–" if point is None else f"{short(point[1])} ({point[0]})" for point in _ends(figure).values()]
        figures.add_row(
            VisibleText(figure_title(figure)), *ends, short(figure.chance), sparkline(list(figure.points.values()))
        )
    others = make_grid("", "metric", *map(Numbers, ("first", "last", "course")))
    for name, values in now.others:
        others.add_row(VisibleText(name), short(values[0]), short(values[-1]), sparkline(values))
    grids = [grid for grid in (figures, others) if grid.row_count]
    return Group(*lines, *grids, *(_finding(name, finding) for name, finding in now.findings), *_notes(now))


def _head(now: RunSnapshot) -> VisibleText:
    head = VisibleText(now.name, style="bold").append(f" {now.state}", style=_STYLES.get(now.state, ""))
    best = "" if now.best_step is None else f", best step {now.step_text(now.best_step)}"
    best += ", no better than the start" * now.start_is_best
    told = (
        f"  {now.algorithm or 'run'}, seed {now.seed}, step {now.step_text(now.step)}{best}, since {now.since or '–'}"
    )
    return head.append(told, style="not bold")


def _finding(name: str, finding: FindingSchema) -> VisibleText:
    style = "red" if finding.level == "fault" else "yellow"
    times = f"{finding.count} time{'s' * (finding.count != 1)}"
    step = "" if finding.step is None else f", first at step {finding.step}"
    return VisibleText(f"{finding.level} {name}, {times}{step}: ", style=style).append(finding.first, style="default")


def _notes(now: RunSnapshot) -> Iterator[VisibleText]:
    if now.sentence:
        yield VisibleText(now.sentence, style="red")
    for sentence in now.unreadable:
        yield VisibleText(sentence, style="red")


def changed_lines(before: RunSnapshot | None, now: RunSnapshot) -> Iterator[VisibleText]:
    """Yield lines about what is new since the look before; of the first look all there is."""
    if before is None or (before.state, before.step) != (now.state, now.step):
        yield _head(now)
    known = {figure.metric: figure.points for figure in before.figures} if before else {}
    yield from (VisibleText(figure_line(figure)) for figure in now.figures if known.get(figure.metric) != figure.points)
    found = {name: finding.count for name, finding in before.findings} if before else {}
    yield from (_finding(name, finding) for name, finding in now.findings if found.get(name) != finding.count)
    noted = list(_notes(before)) if before else []
    yield from (note for note in _notes(now) if note not in noted)


FAILED = 1
"""Exit status where the run has failed."""


def watch(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    once: Annotated[bool, typer.Option("--once", help="Print the run as it is now, and end.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks at the files.")] = 1.0,
    json: JsonOption = False,
) -> None:
    """Watch a run until it ends: its step, its main figures, its curves and its checks."""
    run = RunFolder.open(folder)
    run.info()  # raises where it is damaged
    with suppress(KeyboardInterrupt):
        last = _follow(_looks(run, every, once=once), live=out.is_terminal and not json and not once, json=json)
        if last.state in ("failed", "interrupted"):
            raise typer.Exit(FAILED)


def _looks(run: RunFolder, every: float, *, once: bool) -> Iterator[RunSnapshot]:
    """Yield the run as it is, until it no longer runs."""
    while True:
        now = snapshot(run)
        yield now
        if once or now.state != "running":
            return
        time.sleep(every)


def _follow(looks: Iterator[RunSnapshot], *, live: bool, json: bool) -> RunSnapshot:
    """Show each look at the run, and return the last: drawn in place, or as lines about what is new."""
    before, now = None, next(looks)
    if live:
        try:
            with Live(panel(now), console=out, auto_refresh=False, transient=True) as screen:
                for now in looks:
                    screen.update(panel(now), refresh=True)
        finally:
            out.print(panel(now), highlight=False)
        return now
    while True:
        if json and now != before:
            print_json(now.to_json())
        elif not json:
            for line in changed_lines(before, now):
                out.print(line, highlight=False, markup=False)
        before = now
        try:
            now = next(looks)
        except StopIteration:
            return before
