"""`stratagem audit`: the card of an agent, from its replies alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stratagem.api.audit_plans import plan_audit
from stratagem.api.audits import PAGE
from stratagem.api.audits import audit as audited
from stratagem.auditing.plan import DECISIONS, GAMES
from stratagem.cli import options
from stratagem.cli.broken_off import continuable
from stratagem.cli.console import errors
from stratagem.cli.output import print_result
from stratagem.engines.remote.budget import BudgetSpent
from stratagem.engines.remote.terms import ServerFailed
from stratagem.errors import BadParameter
from stratagem.show.console import Text

FAILED, INCONCLUSIVE = 1, 3
"""Exit status where a condition holds, and where one could not be judged."""
MAX_FAILED = {"max_failed": Annotated[float | None, options.max_failed(INCONCLUSIVE)]}


@options.with_options(options.LOCAL, options.WORK, options.SERVERS, MAX_FAILED)
def audit(
    player: Annotated[str, typer.Argument(help="Agent: a player, a run, api:MODEL@URL, cmd:PROGRAM, http:URL.")],
    games: Annotated[list[str] | None, typer.Option("--games", help=f"Games; by default {', '.join(GAMES)}.")] = None,
    against: Annotated[
        str | None, typer.Option(help="Baseline that is asked the same; the card has the differences from it.")
    ] = None,
    decisions: Annotated[
        int,
        typer.Option(
            min=1,
            help="Decisions that the agent is asked for at most, shared by the games.",
        ),
    ] = DECISIONS,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help="Condition that fails the audit: 'kuhn.exploitability.lower > 0.1'. Repeatable."),
    ] = None,
    probe: Annotated[
        list[str] | None, typer.Option(help="Further probe, such as own.py:Own, with decisions of its own. Repeatable.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the card, its page and the records; a stopped audit there goes on."),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Print what would be asked, and ask nothing.")] = False,
    calls_per_second: Annotated[
        float | None, typer.Option(min=0.0, help="Speed of the server, for the time that --dry-run prints.")
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Audit an agent: exploitability with limits, safety, competence, consistency and cost."""
    asked: dict[str, Any] = {"games": games or GAMES, "against": against, "decisions": decisions, "seed": seed}
    asked |= {"fail_if": fail_if or (), "probes": probe or ()}
    if dry:
        print_result(plan_audit(player, out=to, calls_per_second=calls_per_second, **asked), json=json)
        return
    if calls_per_second is not None:
        raise BadParameter("Only --dry-run prints a time: give --calls-per-second with it, or leave it out.")
    try:
        with continuable(to):
            result = audited(player, out=to, progress=not json, **asked)
    except BudgetSpent:
        raise
    except ServerFailed as error:
        error.exit_code = INCONCLUSIVE  # its own 1 says here that a condition holds
        raise
    print_result(result, json=json)
    if to is not None and not json:
        errors.print(Text(f"{to / PAGE}"), style="dim")
    if "holds" in result.outcomes.values():
        raise typer.Exit(FAILED)
    if "inconclusive" in result.outcomes.values():
        raise typer.Exit(INCONCLUSIVE)
