"""Run of an audit, step by step; what was asked is in records, so a stopped audit asks nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from stratagem.auditing.card import FILE, Card
from stratagem.auditing.compare import against
from stratagem.auditing.cost import cost_of
from stratagem.auditing.figure import Figure, corrected
from stratagem.auditing.pace import Stopwatch
from stratagem.auditing.plan import RECORDS, AuditPlan
from stratagem.errors import StratagemError
from stratagem.evaluation.resumable import PLAN, check_plan, was_in_vain, with_files
from stratagem.files import write_file
from stratagem.games.catalogue import make_game
from stratagem.play.dispatch import Dispatcher, RequestQueue
from stratagem.play.records import Episode
from stratagem.players.catalogue import make_player
from stratagem.provenance import provenance

Progress = Callable[[str], None]
BASELINE = "against"
"""Folder of the audit of the baseline, in the folder of an audit."""


def open_folder(out: Path, plan: AuditPlan) -> None:
    """Open the folder of an audit: a new one, or that of the same audit, which goes on."""
    settings = with_files(plan.to_json())
    known = (out / PLAN).is_file()
    if known and not all(was_in_vain(record) for record in (out / RECORDS).glob("*/")):
        check_plan(out, settings)
        return
    if not known and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise StratagemError(f"{out} is there already and holds no audit: choose another folder.")
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / PLAN, json.dumps(settings, indent=1) + "\n")


def run_audit(
    plan: AuditPlan,
    out: Path | None = None,
    *,
    queue: Callable[[], RequestQueue] = Dispatcher,
    progress: Progress = lambda _: None,
) -> Card:
    """Ask the agent, and the baseline where there is one; return its card, which is written to the folder if given."""
    if out is not None:
        open_folder(out, plan)
    card = _card(plan, out, queue, progress)
    if plan.baseline is not None:
        other = run_audit(plan.baseline, None if out is None else out / BASELINE, queue=queue, progress=progress)
        card = replace(card, figures=(*card.figures, *against(other, card)), baseline=other.agent)
    if out is not None:
        write_file(out / FILE, json.dumps(card.to_json(), indent=1) + "\n")
    return card


def _card(plan: AuditPlan, out: Path | None, queue: Callable[[], RequestQueue], progress: Progress) -> Card:
    """Ask the agent, and return its card."""
    agent = make_player(plan.agent, make_game(plan.games[0])).name
    figures, watch = list[Figure](), Stopwatch(plan, agent, out)
    strategies, episodes = {}, list[Episode]()
    for step in plan.steps:
        if step.why_not:
            continue
        progress(f"{step.game}: {step.probe.name}, {step.decisions} decisions{watch.remaining}")
        task = plan.task(step, out, queue)
        with closing(task.record), watch.step(task.record.finished):
            measured = step.probe.measure(task)
        figures += [replace(one, record=f"{RECORDS}/{step.folder}" if one.episode else "") for one in measured.figures]
        episodes += task.record.finished.values()
        if measured.strategy:
            strategies[step.game] = list(measured.strategy)
    return Card(
        agent=agent,
        games=plan.games,
        decisions=plan.decisions,
        seed=plan.seed,
        figures=tuple(corrected(figures)),
        not_measured={f"{step.game}.{step.probe.name}": step.why_not for step in plan.steps if step.why_not},
        strategies=strategies,
        cost=cost_of(episodes, agent),
        made_by=provenance(),
    )
