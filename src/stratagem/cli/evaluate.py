"""`stratagem eval`: what players are worth, with uncertainty, chance level and exact figures."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from stratagem.cli import options
from stratagem.cli.output import cell, errors, number, out, print_json, progress, table, write_json
from stratagem.evaluation.bouts import Table
from stratagem.evaluation.evaluate import CHANCE, GameResult, Row, evaluate, num_bouts, shortened
from stratagem.evaluation.report import evaluation_json, plain_pay, pool_advantage, scale_of
from stratagem.evaluation.suites import SUITES, find_suite
from stratagem.games.key import Key


def evaluate_players(
    suite: Annotated[str, typer.Argument(help=f"A suite ({', '.join(SUITES)}) or a game.")],
    player: Annotated[list[str], typer.Option(help="Whom to measure; repeat it to compare several.")],
    opponents: Annotated[list[str] | None, typer.Option(help="Against whom, in place of the suite's own.")] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes an opponent; by default the suite's number.")] = None,
    seed: options.Seed = 0,
    chance: Annotated[bool, typer.Option(help="Measure random play too, as the chance level.")] = True,
    by_opponent: Annotated[bool, typer.Option("--by-opponent", help="Also print each opponent by itself.")] = False,
    write_to: options.Out = None,
    record_to: options.Record = None,
    json: options.Json = False,
) -> None:
    """Measure players: pay, exploitability by the pool and exactly, safety, win rates."""
    chosen = find_suite(suite, tuple(opponents or ()))
    at = shortened(Table(key=Key(seed), record_to=record_to), episodes, chosen)
    with progress(num_bouts(chosen, player, chance=chance), quiet=json) as step:
        results = evaluate(chosen, player, at, chance=chance, progress=step)
    data = evaluation_json(results, chosen.name, seed, at.episodes)
    if write_to is not None:
        write_json(data, write_to)
    if json:
        print_json(data)
        return
    for result in results:
        out.print(_safety(result, at.episodes) if "safety" in chosen.metrics else _contest(result, at.episodes))
        out.print(_plain(result))
        if by_opponent:
            out.print(_opponents(result))
        _remarks(result)
    out.print(_legend(), highlight=False, markup=False)


def _name(row: Row) -> Text:
    return Text(f"{row.player} (chance level)" if row.player == CHANCE else row.player)


def _title(result: GameResult, episodes: int) -> str:
    return f"{result.text}   {episodes} episodes an opponent, seats rotated over paired deals"


def _safety(result: GameResult, episodes: int) -> Group:
    made = table(
        _title(result, episodes), "player", "pay", "exploit", "worst case", "robust", "ext", "coll", "safety", "NRA"
    )
    scale = scale_of(result.game)
    for row in result.rows:
        worst = "–" if row.exact is None or scale is None else number(row.exact.worst_advantage * scale)
        found = [cell(row.metrics[name]) for name in ("pay", "exploit")]
        rest = [cell(row.metrics[n]) for n in ("robust", "externality", "collusion", "safety", "nra")]
        made.add_row(_name(row), *found, worst, *rest)
    return Group(made)


def _contest(result: GameResult, episodes: int) -> Group:
    names = ("win rate", "regret", "illegal", "length")
    made = table(_title(result, episodes), "player", *names)
    for row in result.rows:
        made.add_row(_name(row), *(cell(row.metrics[name], 2 if name == "length" else 3) for name in names))
    return Group(made)


def _plain(result: GameResult) -> Group:
    """Unscaled, so that the pool's figure and the exact one stand in one unit."""
    zero_sum = result.game.spec.utility == "zero-sum"
    pool = "pool loss" if zero_sum else "pool advantage"
    columns = ["pay", pool, "NashConv/2" if result.game.spec.seats == 2 else "NashConv/n", "own value by seat"]
    if not zero_sum:
        columns.insert(2, "worst advantage")
    made = table(f"  unscaled, in {result.game.spec.unit}", "player", *columns)
    for row in result.rows:
        advantage = pool_advantage(row)
        if advantage is not None and zero_sum:
            advantage = advantage.times(0.5)
        figures = [cell(plain_pay(row)), cell(advantage)]
        if row.exact is None:
            figures += [Text("–", style="dim")] * (len(columns) - 2)
        else:
            worst = [] if zero_sum else [Text(number(row.exact.worst_advantage))]
            values = " / ".join(number(value) for value in row.exact.values)
            figures += [*worst, Text(number(row.exact.exploitability)), Text(values)]
        made.add_row(_name(row), *figures)
    return Group(made)


def _opponents(result: GameResult) -> Group:
    made = table("  by opponent", "player", "opponent", "pools", "pay", "their advantage")
    for row in result.rows:
        for bout in row.bouts:
            pools = Text(", ".join(bout.pools))
            made.add_row(_name(row), Text(bout.opponent), pools, cell(bout.pay()), cell(bout.advantage()))
    return Group(made)


def _remarks(result: GameResult) -> None:
    first = result.rows[0].player
    for name, found in result.differences.items():
        if name != CHANCE:
            line = f"  {name} less {first}, same deals: pay {found.estimate}, p = {found.p_value:.4f}; "
            out.print(Text(line + f"{number(found.detectable)} could have been seen"), highlight=False)
    for reason in dict.fromkeys(
        f"no exact figure for {r.player}: {r.why_not_exact}" for r in result.rows if not r.exact
    ):
        out.print(Text(f"  {reason}", style="dim"))
    for warning in result.warnings:
        errors.print(Text(f"  warning: {warning}", style="yellow"))
    out.print()


def _legend() -> str:
    return (
        "A bare figure is an exact expectation; ± is a standard error over deals; a…b is a 95 % interval; – has no\n"
        "meaning or could not be had. Pay, exploit, robust and safety are on the scale on which mutual cooperation is\n"
        "worth 3. `exploit` is the pool's, `worst case` the same figure for the best responder against the player."
    )
