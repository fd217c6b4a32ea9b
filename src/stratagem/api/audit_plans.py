"""Plans of audits: `plan_audit` tells what an audit would ask, and its cost and time; nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from stratagem.api.arguments import as_path, names_of, several
from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player_or_name
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter
from stratagem.base.options import check_seed, is_number
from stratagem.games.base import Json
from stratagem.measure.audit.condition import Condition, check_conditions, read_condition
from stratagem.measure.audit.cost import AuditEstimate, largest
from stratagem.measure.audit.pace import decisions_of, in_words, read_pace, warnings_of
from stratagem.measure.audit.plan import ARENA_GAMES, DECISIONS, GAMES, AuditPlan
from stratagem.measure.audit.plan import plan_audit as planned
from stratagem.measure.audit.run import count_recorded
from stratagem.players.base import Player
from stratagem.players.given import GameLike, allow_given
from stratagem.show.audit.exploiter_file import check_program
from stratagem.show.table import ResultTable, text_table

__all__ = ["PlannedAudit", "checked_plan", "plan_audit"]


@dataclass(frozen=True, repr=False)
class PlannedAudit(Result):
    """Audit that is not made: its probes in each game, its largest cost, and its time. There is no picture."""

    plan: AuditPlan
    cost: AuditEstimate | None
    """Largest cost, with one call a decision; None where the agent is no model behind a server."""
    baseline_cost: AuditEstimate | None = None
    """The same of the baseline; None where there is none."""
    decisions_per_second: float | None = None
    """Speed; None where it is not known."""
    speed_from: str = ""
    """Source of the speed in words."""
    recorded: int = 0
    """Decisions that stand in the folder of a started audit, and are not asked again."""

    @property
    def seconds(self) -> float | None:
        """Estimated time of what is left; None where the speed is not known."""
        left = max(0, decisions_of(self.plan) - self.recorded)
        return None if self.decisions_per_second is None else left / self.decisions_per_second

    def rows(self) -> list[Json]:
        """Return one row for each probe in each game; `why_not` is the reason where it does not apply."""
        return _steps(self.plan)

    def to_json(self) -> Json:
        """Return the plan, as `stratagem audit --dry-run --json` prints it."""
        baseline = self.plan.baseline
        costs = {"at_most": self.cost and asdict(self.cost)}
        if baseline is not None:
            costs["baseline_at_most"] = self.baseline_cost and asdict(self.baseline_cost)
        speed = {"decisions_per_second": self.decisions_per_second, "speed_from": self.speed_from}
        known = {"recorded": self.recorded, "seconds": self.seconds, **speed}
        return {**self.plan.to_json(), "steps": self.rows(), **costs, **known}

    def tables(self) -> list[ResultTable]:
        return [_grid(plan) for plan in (self.plan, self.plan.baseline) if plan is not None]

    def remarks(self) -> list[str]:
        """Explain a decision, tell the largest cost where it is known and the time, and warn of long games."""
        lines = ["A decision is one call of a model, or more where the mode thinks first or asks again."]
        if further := sum(step.further for plan in (self.plan, self.plan.baseline) if plan for step in plan.steps):
            total = decisions_of(self.plan)
            lines.append(
                f"At most {total:,} decisions, if games take as many as in random play: {further} of them are for "
                "situations with few replies, and for games that show what exploits an agent."
            )
        if self.cost is not None:
            lines.append(f"At most, with one call a decision: {_describe_cost(self.cost)}.")
        if self.baseline_cost is not None:
            lines.append(f"The baseline at most: {_describe_cost(self.baseline_cost)}.")
        if self.recorded:
            total = decisions_of(self.plan)
            lines.append(f"{self.recorded:,} of {total:,} decisions are recorded, and are not asked again.")
        return [*lines, f"Time{' for the rest' * bool(self.recorded)}: {self._time}.", *warnings_of(self.plan)]

    @property
    def _time(self) -> str:
        if self.seconds is None or self.decisions_per_second is None:
            return "unknown; give `calls_per_second=`, or the folder of a started audit as `out=`"
        return f"{in_words(self.seconds)}, at {self.decisions_per_second:.3g} decisions a second {self.speed_from}"


def _steps(plan: AuditPlan) -> list[Json]:
    return [
        {"game": step.game, "probe": step.probe.name, "decisions": step.decisions, "why_not": step.why_not}
        for step in plan.steps
    ]


def _grid(plan: AuditPlan) -> ResultTable:
    title = f"Audit of {plan.to_json()['player']}: {plan.decisions} decisions"
    rows = [(s.game, s.probe.name, str(s.decisions or "–"), s.why_not) for s in plan.steps]
    return text_table(title, ("game", "probe", "decisions", "why not"), rows)


def _describe_cost(cost: AuditEstimate) -> str:
    tokens = f"{cost.calls:,} calls, {cost.prompt_tokens:,} prompt tokens and {cost.reply_tokens:,} reply tokens"
    if cost.money is None or cost.action_money is None:
        return f"{tokens}, {cost.action_tokens:,} if a reply is an action alone; give `prices=` for money"
    most, alone = (f"{money:.2f} {cost.currency}".strip() for money in (cost.money, cost.action_money))
    return f"{tokens}, {most}. If a reply is an action alone: {cost.action_tokens:,} reply tokens, {alone}"


@one_sentence
def plan_audit(
    player: PlayerLike,
    *,
    games: GameLike | Sequence[GameLike] = GAMES,
    against: PlayerLike | None = None,
    decisions: int = DECISIONS,
    seed: int = 0,
    fail_if: str | Sequence[str] = (),
    probes: str | Sequence[str] = (),
    write_exploiter: str | Path | None = None,
    nonce: str | Path | None = None,
    arena: bool = False,
    out: str | Path | None = None,
    calls_per_second: float | None = None,
) -> PlannedAudit:
    """Tell what an audit would ask an agent, and its largest cost and time, and ask nothing.

    Money needs the prices of the model: `with sg.servers(prices="prices.toml"): sg.plan_audit(...)`. The time needs a
    speed: `calls_per_second`, or what a started audit in the folder `out` has measured so far.

    Args:
        player: Agent: a player, a run, api:MODEL@URL, cmd:PROGRAM, http:URL.
        games: Games of the audit; draws(cards, 20) are games that nobody has seen.
        against: Baseline that is asked the same with the same keys; the card has the differences from it.
        decisions: Largest number of decisions that each agent is asked for, shared by the games.
        seed: Seed of all randomness.
        fail_if: Conditions that fail the audit: 'kuhn.exploitability.lower > 0.1'.
        probes: Further probes, such as own.py:Own, with decisions of their own.
        write_exploiter: Python file for at most 20 rules that beat the agent: a player, FILE.py:Exploiter.
        nonce: File of the nonce that decides the seed of drawn games, committed before the agent was named.
        arena: True to ask a language model as public arenas do: no list of moves, one retry, then the game is lost.
        out: Folder of a started audit.
        calls_per_second: Speed of the server, for the time.
    """
    program = None if write_exploiter is None else as_path(write_exploiter, "file")
    plan, _ = checked_plan(player, games, decisions, seed, fail_if, against, probes, program, nonce, arena=arena)
    baseline = None if plan.baseline is None else largest(plan.baseline)
    recorded = 0 if out is None else count_recorded(plan, as_path(out, "folder"))
    return PlannedAudit(plan, largest(plan), baseline, *_speed(out, calls_per_second), recorded)


def _speed(out: str | Path | None, calls_per_second: float | None) -> tuple[float | None, str]:
    """Return the decisions a second, and where they come from."""
    if calls_per_second is not None:
        if not (is_number(calls_per_second) and calls_per_second > 0):
            raise BadParameter(f"A speed is a number above 0: `calls_per_second={calls_per_second}` is none.")
        return calls_per_second, "as stated, if each takes one call"
    folder = None if out is None else as_path(out, "folder")
    measured = read_pace(folder).per_second
    return measured, "" if measured is None else f"as measured in {folder}"


def checked_plan(
    player: PlayerLike,
    games: GameLike | Sequence[GameLike],
    decisions: int,
    seed: int,
    fail_if: str | Sequence[str],
    against: PlayerLike | None = None,
    probes: str | Sequence[str] = (),
    program: Path | None = None,
    nonce: str | Path | None = None,
    *,
    arena: bool = False,
) -> tuple[AuditPlan, list[Condition]]:
    """Check the parameters of an audit, and return its plan and its conditions."""
    check_seed(seed)
    if program is not None:
        check_program(program)
    agent, listed = as_player_or_name(player), several(games, "game")
    baseline = None if against is None else as_player_or_name(against)
    if arena:
        agent, baseline = _in_arena(agent), None if baseline is None else _in_arena(baseline)
        listed = list(ARENA_GAMES) if tuple(listed) == GAMES else listed
    further = names_of(probes, "probe")
    allow_given(agent, baseline, *listed, *further)
    conditions = [read_condition(text) for text in names_of(fail_if, "condition")]
    committed = None if nonce is None else as_path(nonce, "nonce")
    plan = planned(agent, listed, decisions, seed, baseline, further, program is not None, committed)
    check_conditions(conditions, plan.names())
    return plan, conditions


def _in_arena(agent: str | Player) -> str | Player:
    """Return the agent as arenas ask it."""
    if isinstance(agent, str):
        return f"arena({agent})"
    from stratagem.players.arena import ArenaPlayer  # loads an engine

    return ArenaPlayer(agent)
