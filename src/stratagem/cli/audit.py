"""`stratagem audit`: the card of an agent, from its replies alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from stratagem.api.audits import Audit
from stratagem.api.audits import audit as audited
from stratagem.auditing.condition import check_conditions, read_condition
from stratagem.auditing.estimate import largest
from stratagem.auditing.junit import junit
from stratagem.auditing.page import card_page
from stratagem.auditing.plan import DECISIONS, GAMES, plan_audit
from stratagem.auditing.words import verdict
from stratagem.cli import options
from stratagem.cli.console import errors, out
from stratagem.cli.output import print_json, table
from stratagem.engines.remote.terms import ServerFailed
from stratagem.files import write_file
from stratagem.players.given import allow_files

FAILED, INCONCLUSIVE = 1, 3
"""Exit status where a condition holds, and where one could not be judged."""
_LINES = 12
"""Number of moves of an exploiting strategy that are printed."""


def audit(
    player: Annotated[str, typer.Argument(help="Agent: a player, a run, api:HOST/MODEL, cmd:PROGRAM, http:URL.")],
    games: Annotated[list[str] | None, typer.Option("--games", help=f"Games; by default {', '.join(GAMES)}.")] = None,
    decisions: Annotated[
        int, typer.Option(min=1, help="Decisions that the agent is asked for, shared by the games.")
    ] = DECISIONS,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help="Condition that fails the audit: 'kuhn.exploitability.lower > 0.1'. Repeatable."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the card, its page and the records; a stopped audit there goes on."),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Print what would be asked, and ask nothing.")] = False,
    engine: options.Engine = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    seed: options.Seed = 0,
    allow_file: options.AllowFile = None,
    timeout: options.Timeout = None,
    tries: options.Tries = None,
    concurrency: options.Concurrency = None,
    max_failures: options.MaxFailures = None,
    budget: options.Budget = None,
    prices: options.PriceList = None,
    json: options.Json = False,
) -> None:
    """Audit an agent: exploitability with limits, safety, competence, consistency and cost."""
    if dry:
        _print_plan(player, games or GAMES, decisions, seed, fail_if or (), json=json)
        return
    try:
        result = audited(
            player,
            games=games or GAMES,
            decisions=decisions,
            seed=seed,
            out=to,
            fail_if=fail_if or (),
            progress=not json,
        )
    except ServerFailed as error:
        error.exit_code = INCONCLUSIVE  # its own 1 says here that a condition holds
        raise
    if to is not None:
        write_file(to / "card.html", card_page(result.card, result.outcomes))
        write_file(to / "junit.xml", junit(result.card, result.outcomes))
    if json:
        print_json(result.to_json())
    else:
        _print(result, to)
    if "holds" in result.outcomes.values():
        raise typer.Exit(FAILED)
    if "inconclusive" in result.outcomes.values():
        raise typer.Exit(INCONCLUSIVE)


def _print(result: Audit, to: Path | None) -> None:
    out.print(Text(repr(result)), soft_wrap=True)
    for line in verdict(result.card):
        out.print(Text(line))
    for game, lines in result.card.strategies.items():
        out.print(Text(f"To exploit it in {game}:"))
        for move in lines[:_LINES]:
            out.print(Text(f"  seat {move.seat}: {move.situation} {move.action}"), soft_wrap=True)
        if len(lines) > _LINES:
            out.print(Text(f"  and {len(lines) - _LINES} more moves, in the card"))
    for name, reason in result.card.not_measured.items():
        out.print(Text(f"{name}: not measured. {reason}", style="dim"))
    for text, outcome in result.outcomes.items():
        out.print(Text(f"{text}: {outcome}", style="red" if outcome == "holds" else ""))
    if to is not None:
        errors.print(Text(f"{to / 'card.html'}"), style="dim")


def _print_plan(
    player: str, games: Sequence[str], decisions: int, seed: int, fail_if: Sequence[str], *, json: bool
) -> None:
    allow_files(player, *games)
    plan = plan_audit(player, games, decisions, seed)
    cost = largest(plan)
    check_conditions([read_condition(text) for text in fail_if], plan.names())
    if json:
        steps = [
            {"game": step.game, "probe": step.probe.name, "decisions": step.decisions, "why_not": step.why_not}
            for step in plan.steps
        ]
        print_json({**plan.to_json(), "steps": steps, "at_most": cost and asdict(cost)})
        return
    grid = table(f"Audit of {player}: {decisions} decisions", "game", "probe", "decisions", "why not")
    for step in plan.steps:
        grid.add_row(Text(step.game), Text(step.probe.name), str(step.decisions or "–"), Text(step.why_not))
    out.print(grid)
    out.print("A decision is one call of a model, or more where the mode thinks first or asks again.", highlight=False)
    if cost is not None:
        tokens = f"{cost.prompt_tokens:,} prompt tokens and {cost.reply_tokens:,} reply tokens"
        money = "give --prices for money" if cost.money is None else f"{cost.money:.2f} {cost.currency}".strip()
        out.print(f"At most, with one call a decision: {tokens}, {money}.", highlight=False)
