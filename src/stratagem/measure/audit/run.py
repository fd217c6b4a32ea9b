"""Run of an audit, step by step; what was asked is in records, so a stopped audit asks nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.base.files import telling, write_file
from stratagem.base.garbage import rare_collection
from stratagem.base.manifest import drop_digests, write_digests
from stratagem.base.provenance import provenance
from stratagem.language.engines.outcomes import counting_outcomes
from stratagem.measure.audit.card import FILE, Card
from stratagem.measure.audit.checks.base import QUESTIONS, ProbeResult, last_attempts
from stratagem.measure.audit.checks.catalogue import CHECKS
from stratagem.measure.audit.compare import against
from stratagem.measure.audit.cost import cost_of
from stratagem.measure.audit.measurement import Measurement, correct_tests
from stratagem.measure.audit.pace import Show, Stopwatch
from stratagem.measure.audit.plan import RECORDS, AuditPlan, ProbeStep
from stratagem.measure.audit.probes.base import LaterProbe, ProbeFindings, Task
from stratagem.measure.audit.probes.catalogue import NAMES
from stratagem.measure.resumable import PLAN, check_plan, is_unanswered, was_in_vain, with_files
from stratagem.measure.sampled.asking import LONG
from stratagem.measure.sampled.permutation import DEPENDENT
from stratagem.players.catalogue import make_player
from stratagem.playing.dispatch import Dispatcher, RequestQueue


def short_replies(results: Iterable[ProbeResult]) -> tuple[str, ...]:
    """Return a sentence where short replies of a server are taken as independent, which a cache would make wrong."""
    lengths = [length for result in results for length in _lengths(result)]
    short = sum(length < LONG for length in lengths)
    if not short:
        return ()
    return (
        f"{short} of {len(lengths)} replies to questions have fewer than {LONG} characters: equal ones among them are "
        "taken as independent, so limits and tests do not hold if a cache gave them.",
    )


def dependent_replies(figures: Iterable[Measurement]) -> Iterator[str]:
    """Yield a sentence for each game whose replies depend on each other, on what the limits then hold for."""
    p_values = {figure.name: figure.p for figure in figures if figure.p is not None}
    for name in [name for name in p_values if name.endswith(".exploitability")]:
        game = name.removesuffix(".exploitability")
        tested = [p_values[of_game] for quantity in DEPENDENCE if (of_game := f"{game}.{quantity}") in p_values]
        if tested and (p := len(tested) * min(tested)) <= DEPENDENT:
            yield (
                f"{game}: replies depend on earlier ones, or changed (p = {p:.4f}). The limits of {name} hold for what "
                "the agent played in this audit, the lower one for the last three quarters of its replies. Without "
                "that memory it may play something else."
            )


def remembered_questions(results: Iterable[ProbeResult]) -> tuple[str, ...]:
    """Return a sentence where the agent may remember earlier questions, without which it may play something else."""
    if not any(result.task.agent.traits.remembers for result in results):
        return ()
    return (
        "The agent may have kept a memory between questions. The limits hold for what it played in this audit, "
        "the lower one for the last three quarters of its replies; without that memory it may play something else.",
    )


def _lengths(result: ProbeResult) -> list[int]:
    """Return the lengths of the replies to questions of an agent that may not be asked the same twice."""
    traits = result.task.agent.traits
    if result.probe != QUESTIONS or traits.repeats or not traits.stochastic:
        return []
    rows = [row for episode in result.question_episodes() for row in last_attempts(episode) if not is_unanswered(row)]
    return [len("\n".join(call.text for call in row.calls)) for row in rows]


DEPENDENCE = ("change", "sequence")
"""Figures that test whether replies depend on each other."""
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
    with telling(out):
        out.mkdir(parents=True, exist_ok=True)
    write_file(out / PLAN, json.dumps(settings, indent=1) + "\n")


@rare_collection()
def run_audit(
    plan: AuditPlan,
    out: Path | None = None,
    *,
    queue: Callable[[], RequestQueue] = Dispatcher,
    progress: Show = lambda done, total, text: None,
) -> Card:
    """Ask the agent, and the baseline where there is one; return its card, which is written to the folder if given."""
    if out is not None:
        open_folder(out, plan)
        drop_digests(out)
    card = _card(plan, out, queue, progress)
    if plan.baseline is not None:
        folder = None if out is None else out / BASELINE

        def show(done: int, total: int, text: str) -> None:
            progress(done, total, f"baseline, {text}")

        other = run_audit(plan.baseline, folder, queue=queue, progress=show)
        card = replace(card, figures=(*card.figures, *against(other, card)), baseline=other.agent)
    if out is not None:
        write_file(out / FILE, json.dumps(card.to_json(), indent=1) + "\n")
        write_digests(out)
    return card


def count_recorded(plan: AuditPlan, out: Path) -> int:
    """Count the planned decisions that need no more answers, by what stands in the folder of this audit.

    A step that another follows is over, and so is every step beside a card, also where fewer decisions came than were
    planned. A folder of another audit has none.
    """
    from stratagem.playing.store import read_episodes, shards  # loads pyarrow, so only with a folder

    if not (out / PLAN).is_file():
        return 0
    try:
        check_plan(out, with_files(plan.to_json()))
    except StratagemError:
        return 0
    steps = [step for step in plan.steps if not step.why_not]
    begun = [step for step in steps if shards(out / RECORDS / step.folder)]
    over = steps if (out / FILE).is_file() else begun[:-1]
    count = sum(step.most for step in over)
    if begun and len(over) < len(steps):
        agent = make_player(plan.agent, plan.first_game()).name
        recorded = cost_of(read_episodes(out / RECORDS / begun[-1].folder), agent).decisions
        count += min(recorded, begun[-1].decisions)
    return count + (count_recorded(plan.baseline, out / BASELINE) if plan.baseline else 0)


def _card(plan: AuditPlan, out: Path | None, queue: Callable[[], RequestQueue], progress: Show) -> Card:
    """Ask the agent, and return its card."""
    agent = make_player(plan.agent, plan.first_game()).name
    results, watch = list[ProbeResult](), Stopwatch(plan, agent, out, progress)
    with counting_outcomes() as outcomes:
        for step in plan.steps:
            if step.why_not:
                continue
            task = plan.task(step, out, queue)
            with closing(task.record), watch.step(task.record, f"{step.game}: {step.probe.name}"):
                measured = _measure_step(step, task, results)
                results.append(ProbeResult(step.probe.name, task, measured, f"{RECORDS}/{step.folder}"))
        checked, inapplicable = _run_checks(plan, results)
    figures = correct_tests([*_figures(results), *checked])
    return Card(
        agent=agent,
        games=plan.games,
        decisions=plan.decisions,
        seed=plan.seed,
        figures=tuple(figures),
        not_measured={f"{step.game}.{step.probe.name}": step.why_not for step in plan.steps if step.why_not}
        | inapplicable,
        strategies={
            one.measured.strategy_in or one.task.text: list(one.measured.strategy)
            for one in results
            if one.measured.strategy
        },
        cost=cost_of([episode for one in results for episode in one.task.record.finished.values()], agent),
        made_by={**provenance(), "date": datetime.now(UTC).date().isoformat()},
        notes=(
            *(plan.origin.sentences() if plan.origin else ()),
            *short_replies(results),
            *remembered_questions(results),
            *dependent_replies(figures),
        ),
        probes={
            game: {step.probe.name: step.decisions for step in plan.steps if step.game == game and not step.why_not}
            for game in plan.games
        },
        requests=outcomes.to_json(),
        draws={} if plan.origin is None else _draws(plan, results),
        exploiters={one.task.text: found for one in results if (found := one.measured.exploiter)},
    )


def _draws(plan: AuditPlan, results: Sequence[ProbeResult]) -> dict[str, Any]:
    """Return the origin of the seed, and the figures of each drawn and each known game."""
    assert plan.origin is not None
    games = {one.task.text: list(one.measured.games) for one in results if one.measured.games}
    return {**plan.origin.to_json(), "games": games}


def _measure_step(step: ProbeStep, task: Task, results: Sequence[ProbeResult]) -> ProbeFindings:
    """Return the findings of a probe, which may build on those of earlier ones of its game."""
    if isinstance(step.probe, LaterProbe):
        return step.probe.measure_after(task, [one.measured for one in results if one.task.text == step.game])
    return step.probe.measure(task)


def _figures(results: Sequence[ProbeResult]) -> Iterator[Measurement]:
    """Yield the figures of probes, with the folder of the episode that shows each."""
    for result in results:
        for figure in result.measured.figures:
            yield replace(figure, record=result.record if figure.episode else "")


def _run_checks(plan: AuditPlan, results: Sequence[ProbeResult]) -> tuple[list[Measurement], dict[str, str]]:
    """Return the figures of the checks of every game, and the reason by name where one does not apply."""
    figures, reasons = list[Measurement](), dict[str, str]()
    for game, check in product(plan.single_games, CHECKS):
        try:
            ours = [result for result in results if result.task.text == game and result.probe in NAMES]
            figures.append(check.measure(ours))  # a further probe moves no figure of ours
        except CannotCompute as error:
            reasons |= {f"{game}.{quantity}": str(error) for quantity in check.quantities}
    return figures, reasons
