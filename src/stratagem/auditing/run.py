"""Run of an audit, step by step; what was asked is in records, so a stopped audit asks nothing twice."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from stratagem.auditing.card import FILE, Card, Cost
from stratagem.auditing.figure import Figure, corrected
from stratagem.auditing.plan import RECORDS, AuditPlan
from stratagem.engines.base import Call
from stratagem.engines.remote.tally import prices_of
from stratagem.errors import StratagemError
from stratagem.evaluation.resumable import PLAN, check_plan
from stratagem.files import write_file
from stratagem.games.catalogue import make_game
from stratagem.play.dispatch import Dispatcher, RequestQueue
from stratagem.play.records import Episode
from stratagem.players.catalogue import make_player
from stratagem.provenance import provenance

Progress = Callable[[str], None]


def open_folder(out: Path, plan: AuditPlan) -> None:
    """Open the folder of an audit: a new one, or that of the same audit, which goes on."""
    if (out / PLAN).is_file():
        check_plan(out, plan.to_json())
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise StratagemError(f"{out} is there already and holds no audit: choose another folder.")
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / PLAN, json.dumps(plan.to_json(), indent=1) + "\n")


def run_audit(
    plan: AuditPlan,
    out: Path | None = None,
    *,
    queue: Callable[[], RequestQueue] = Dispatcher,
    progress: Progress = lambda _: None,
) -> Card:
    """Ask the agent, and return its card; with a folder, the card is written there."""
    if out is not None:
        open_folder(out, plan)
    figures: list[Figure] = []
    strategies, episodes = {}, list[Episode]()
    for step in plan.steps:
        if step.why_not:
            continue
        progress(f"{step.game}: {step.probe.name}, {step.decisions} decisions")
        task = plan.task(step, out, queue)
        measured = step.probe.measure(task)
        figures += [replace(one, record=f"{RECORDS}/{step.folder}" if one.episode else "") for one in measured.figures]
        episodes += task.record.finished.values()
        if measured.strategy:
            strategies[step.game] = list(measured.strategy)
    agent = make_player(plan.agent, make_game(plan.games[0])).name
    card = Card(
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
    if out is not None:
        write_file(out / FILE, json.dumps(card.to_json(), indent=1) + "\n")
    return card


def cost_of(episodes: Iterable[Episode], agent: str) -> Cost:
    """Add the calls of an agent, also under the names of other settings; a probe's episode asks nobody else."""
    decisions, calls = 0, list[Call]()
    for episode in episodes:
        for row in episode.decisions:
            if episode.purpose == "probe" or episode.players[row.seat].rpartition("@")[0] == agent:
                decisions += 1
                calls += row.calls
    return _priced(
        Cost(
            decisions=decisions,
            calls=len(calls),
            prompt_tokens=sum(call.num_prompt for call in calls),
            reply_tokens=sum(call.num_reply for call in calls),
            seconds=round(math.fsum(call.ms for call in calls) / 1000.0, 1),
        ),
        calls,
    )


def _priced(cost: Cost, calls: list[Call]) -> Cost:
    models = {call.policy.base for call in calls}
    prices = prices_of(next(iter(models))) if len(models) == 1 else None
    if prices is None:
        return cost
    return replace(cost, money=prices.of(cost.prompt_tokens, cost.reply_tokens), currency=prices.currency)
