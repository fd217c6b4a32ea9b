"""Plans of audits: `plan_audit` tells what an audit would ask, and its largest cost; nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from stratagem.api.arguments import names_of, several
from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player_or_name
from stratagem.api.result import Grid, Result
from stratagem.auditing.condition import Condition, check_conditions, read_condition
from stratagem.auditing.estimate import AuditEstimate, largest
from stratagem.auditing.plan import DECISIONS, GAMES, AuditPlan
from stratagem.auditing.plan import plan_audit as planned
from stratagem.games.base import Json
from stratagem.options import check_seed
from stratagem.players.given import GameLike, allow_files

__all__ = ["PlannedAudit", "checked_plan", "plan_audit"]


@dataclass(frozen=True, repr=False)
class PlannedAudit(Result):
    """Audit that is not made: its probes in each game, and its largest cost. There is no picture."""

    plan: AuditPlan
    cost: AuditEstimate | None
    """Largest cost, with one call a decision; None where the agent is no model behind a server."""

    def rows(self) -> list[Json]:
        """Return one row for each probe in each game; `why_not` is the reason where it does not apply."""
        return [
            {"game": step.game, "probe": step.probe.name, "decisions": step.decisions, "why_not": step.why_not}
            for step in self.plan.steps
        ]

    def to_json(self) -> Json:
        """Return the plan, as `stratagem audit --dry-run --json` prints it."""
        return {**self.plan.to_json(), "steps": self.rows(), "at_most": self.cost and asdict(self.cost)}

    def grids(self) -> list[Grid]:
        title = f"Audit of {self.plan.to_json()['player']}: {self.plan.decisions} decisions"
        rows = [(s.game, s.probe.name, str(s.decisions or "–"), s.why_not) for s in self.plan.steps]
        return [Grid(title, ("game", "probe", "decisions", "why not"), rows, figures=False)]

    def remarks(self) -> list[str]:
        """Explain a decision, and tell the largest cost where it is known."""
        lines = ["A decision is one call of a model, or more where the mode thinks first or asks again."]
        if self.cost is None:
            return lines
        tokens = f"{self.cost.prompt_tokens:,} prompt tokens and {self.cost.reply_tokens:,} reply tokens"
        priced = f"{self.cost.money or 0.0:.2f} {self.cost.currency}".strip()
        money = "give `prices=` for money" if self.cost.money is None else priced
        return [*lines, f"At most, with one call a decision: {tokens}, {money}."]


@one_sentence
def plan_audit(
    player: PlayerLike,
    *,
    games: GameLike | Sequence[GameLike] = GAMES,
    decisions: int = DECISIONS,
    seed: int = 0,
    fail_if: str | Sequence[str] = (),
) -> PlannedAudit:
    """Tell what `audit` would ask an agent with these parameters, and its largest cost; nothing is asked.

    Money needs the prices of the model: `with sg.servers(prices="prices.toml"): sg.plan_audit(...)`.
    """
    plan, _ = checked_plan(player, games, decisions, seed, fail_if)
    return PlannedAudit(plan, largest(plan))


def checked_plan(
    player: PlayerLike,
    games: GameLike | Sequence[GameLike],
    decisions: int,
    seed: int,
    fail_if: str | Sequence[str],
) -> tuple[AuditPlan, list[Condition]]:
    """Check the parameters of an audit, and return its plan and its conditions."""
    check_seed(seed)
    agent, listed = as_player_or_name(player), several(games, "game")
    allow_files(agent, *listed)
    conditions = [read_condition(text) for text in names_of(fail_if, "condition")]
    plan = planned(agent, listed, decisions, seed)
    check_conditions(conditions, plan.names())
    return plan, conditions
