"""`stratagem eval`: metrics of players with uncertainty, chance level and exact values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Group, RenderableType

from stratagem.api.console import Text
from stratagem.api.evaluations import Evaluation, EvaluationSettings, plan_evaluation
from stratagem.api.records import read_record
from stratagem.cli import completion, options
from stratagem.cli.broken_off import played
from stratagem.cli.console import errors, out
from stratagem.cli.evaluation_legend import legend
from stratagem.cli.exploit import Effort, Method, basis_line, exploitability_cell
from stratagem.cli.other_words import in_other_words
from stratagem.cli.output import cell, number, print_json, print_remarks, table, write_json
from stratagem.cli.printed_names import name_lines, printed_name
from stratagem.errors import BadParameter
from stratagem.evaluation.comparisons import both_exact, holm_p
from stratagem.evaluation.evaluate import CHANCE, GameResult, Row
from stratagem.evaluation.metrics import METRICS
from stratagem.evaluation.report import scale_of, unscaled
from stratagem.evaluation.statistics import LEAST_FLIPPED, exactly
from stratagem.evaluation.suites import SUITES
from stratagem.evaluation.validity import ENDS, KINDS

SHORT = {"externality": "ext", "collusion": "coll", "nra": "NRA"}
"""Headings that are shorter than the metric's name."""
FROM = ("from_record", "metric", "by_opponent", "by_seat", "seed", "write_to", "prices", "json")
"""Parameters that have an effect on the figures of a record."""


def evaluate_players(
    context: typer.Context,
    suite: Annotated[
        str | None, typer.Argument(help=f"Suite ({', '.join(SUITES)}) or game.", autocompletion=completion.suites)
    ] = None,
    player: Annotated[
        list[str] | None, typer.Option(help="Player to measure. Repeatable.", autocompletion=completion.players)
    ] = None,
    opponents: Annotated[
        list[str] | None,
        typer.Option(help="Opponents, in place of those of the suite.", autocompletion=completion.players),
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes per opponent; by default that of the suite.")] = None,
    engine: options.Engine = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    seed: options.Seed = 0,
    chance: Annotated[bool, typer.Option(help="Measure random play, too, as the chance level.")] = True,
    metric: Annotated[
        list[str] | None, typer.Option(help="Additional metric. Repeatable.", autocompletion=completion.metrics)
    ] = None,
    by_opponent: Annotated[bool, typer.Option("--by-opponent", help="Print figures by opponent, too.")] = False,
    by_seat: Annotated[
        bool, typer.Option("--by-seat", help="Print figures by seat, too; default where seats have names.")
    ] = False,
    disguise: Annotated[
        str | None,
        typer.Option(help="Number of disguises, or a file: the same deals in other words, and the memorisation gap."),
    ] = None,
    exploitability: Method = "auto",
    effort: Effort = None,
    from_record: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Compute the figures of a record from its games and play nothing; no exploitability is among them.",
        ),
    ] = None,
    write_to: options.Out = None,
    record_to: options.Record = None,
    resume: options.Resume = False,
    timeout: options.Timeout = None,
    tries: options.Tries = None,
    concurrency: options.Concurrency = None,
    max_failures: options.MaxFailures = None,
    max_failed: options.MaxFailed = None,
    budget: options.Budget = None,
    prices: options.PriceList = None,
    json: options.Json = False,
) -> None:
    """Measure players: payoff, exploitability by a pool and exactly, safety, win rates."""
    output = EvaluationOutput(by_opponent, write_to, json)
    if from_record is not None:
        _check_from(context)
        output.show(read_record(from_record).evaluate(metric or (), by_seat=by_seat, seed=seed))
        return
    if suite is None or not player:
        raise BadParameter("Name a suite or a game, and whom to measure with --player; or a record with --from.")
    settings = EvaluationSettings(
        suite,
        player,
        opponents=opponents or (),
        episodes=episodes,
        seed=seed,
        chance=chance,
        metrics=metric or (),
        by_seat=by_seat,
        disguise=disguise,
        exploitability=exploitability,
        effort=effort,
        record=record_to,
        resume=resume,
    )
    output.show(played(plan_evaluation(settings), output.show, quiet=json))


def _check_from(context: typer.Context) -> None:
    """Refuse options of play beside --from, which would be without effect."""
    given = (
        one
        for one in context.command.params
        if one.expose_value and one.name not in FROM and _is_given(context, one.name)
    )
    if idle := sorted(_written(context, one) for one in given):
        raise BadParameter(
            "--from computes the figures of a record, whose game and players stand in it, and plays nothing: "
            f"leave {', '.join(idle)} out."
        )


def _is_given(context: typer.Context, name: str | None) -> bool:
    source = context.get_parameter_source(name) if name else None
    return source is not None and source.name == "COMMANDLINE"


def _written(context: typer.Context, parameter: Any) -> str:
    """Return an option as it was written, such as --no-chance."""
    if parameter.param_type_name == "argument":
        return "the game"
    off = parameter.secondary_opts if context.params[parameter.name] is False else ()
    return str((*off, *parameter.opts)[0])


class EvaluationOutput(NamedTuple):
    """Output of an evaluation: options, and the method that prints and writes the figures."""

    by_opponent: bool = False
    write_to: Path | None = None
    json: bool = False

    def show(self, evaluation: Evaluation) -> None:
        """Print the figures, and write them if `write_to` is set."""
        data, results = evaluation.to_json(), evaluation.results
        if self.write_to is not None and not evaluation.broken_off:
            write_json(data, self.write_to)
        if self.json:
            print_json(data)
            return
        if not results:
            errors.print("There are no figures yet: no episode has finished.", highlight=False)
            return
        adjusted = holm_p(results)
        for result in results:
            self._game(result, adjusted)
        out.print(legend(results, len(adjusted)), highlight=False, markup=False)
        print_remarks(evaluation)

    def _game(self, result: GameResult, adjusted: Mapping[tuple[str, str], float]) -> None:
        for line in name_lines(result):
            out.print(line)
        out.print(_figures(result, list(result.rows[0].metrics)))
        if not _is_plain(result):
            out.print(_plain(result))
        if any(row.validity for row in result.rows):
            out.print(_replies(result))
        if any(row.in_other_words for row in result.rows):
            out.print(in_other_words(result))
        if self.by_opponent:
            out.print(_opponents(result))
        for row in result.rows:
            for opponent in dict.fromkeys(seat.opponent for seat in row.by_seat if any(seat.metrics.values())):
                out.print(_seats(result, row, opponent))
        _remarks(result, adjusted)


def _short(name: str, result: GameResult) -> Text:
    return Text(printed_name(name, result))


def _title(result: GameResult) -> str:
    episodes = len(result.rows[0].matchups[0].episodes)
    caption = f"{result.text}   {episodes} episodes per opponent where play is sampled, seats rotated over paired deals"
    return f"{caption}; pay in {result.game.spec.unit}" if _is_plain(result) else caption


def _figures(result: GameResult, metrics: Sequence[str]) -> Group:
    """Return a row a player, a column a metric; the best responder's figure stands next to the pool's."""
    headings = [SHORT.get(name, name) for name in metrics]
    if "exploit" in metrics:
        headings.insert(metrics.index("exploit") + 1, "worst case")
    grid = table(_title(result), "player", *headings)
    scale = scale_of(result.game)
    for row in result.rows:
        cells = [cell(row.metrics[name], METRICS[name].digits) for name in metrics]
        if "exploit" in metrics:
            advantage = row.exploitability.worst_advantage
            worst = None if advantage is None or scale is None else exactly(advantage * scale)
            cells.insert(metrics.index("exploit") + 1, cell(worst))
        grid.add_row(_short(row.player, result), *cells)
    for name, nulls in _nulls(result):
        cells = [_null(nulls.get(metric), METRICS[metric].digits) for metric in metrics]
        if "exploit" in metrics:
            cells.insert(metrics.index("exploit") + 1, Text())
        grid.add_row(name, *cells)
    return Group(grid)


def _nulls(result: GameResult) -> Iterator[tuple[Text, Mapping[str, float]]]:
    """Yield the nulls in one row if all players have the same, else in a row a player."""
    rows = [{name: number(null, METRICS[name].digits) for name, null in row.nulls.items()} for row in result.rows]
    same = all(nulls == rows[0] for nulls in rows)
    for row in result.rows[:1] if same else result.rows:
        if row.nulls:
            yield Text("null" if same else f"null of {_short(row.player, result)}", style="dim"), row.nulls


def _null(value: float | None, digits: int) -> Text:
    shown = "" if value is None else "–" if isnan(value) else number(value, digits)
    return Text(shown, style="dim")


def _is_plain(result: GameResult) -> bool:
    """Return whether payoffs are in the game's unit and no figure is exact: an unscaled table would add nothing."""
    pools = {pool for matchup in result.rows[0].matchups for pool in matchup.pools}
    nothing = not any(row.exploitability.estimate for row in result.rows)
    return nothing and "exploit" not in pools and scale_of(result.game) == 1.0


def _plain(result: GameResult) -> Group:
    """Print the figures unscaled, so that the pool's figure and the exact one have one unit."""
    zero_sum, seats = result.game.spec.utility == "zero-sum", result.game.spec.seats
    worst = [] if zero_sum else ["worst advantage"]
    gains = ["gain by seat"] if seats > 2 else []
    conv = "NashConv/2" if seats == 2 else "NashConv/n"
    columns = ["pay", "pool loss" if zero_sum else "pool advantage", *worst, conv, "own value by seat", *gains]
    grid = table(f"  unscaled, in {result.game.spec.unit}", "player", *columns)
    for row in result.rows:
        pay, advantage = unscaled(result, row)
        if advantage is not None and zero_sum:
            advantage = advantage.times(0.5)
        figures = {"pay": cell(pay), columns[1]: cell(advantage)} | _exploitability(row, conv)
        cells = [figures.get(column, Text("–", style="dim")) for column in columns]
        grid.add_row(_short(row.player, result), *cells)
    return Group(grid)


def _exploitability(row: Row, conv: str) -> dict[str, RenderableType]:
    """Return the figures of a player by column, lower bounds with their sign."""
    found = row.exploitability
    if found.estimate is None:
        return {}
    sign = "≥ " if found.is_bound else ""
    figures: dict[str, RenderableType] = {conv: Text(sign).append(exploitability_cell(found))}
    figures["worst advantage"] = cell(found.figures().get("worst_advantage"))
    if found.by_seat:
        figures["own value by seat"] = Text(" / ").join(cell(seat.value) for seat in found.by_seat)
        figures["gain by seat"] = Text(" / ").join(Text(sign).append(cell(seat.gain)) for seat in found.by_seat)
    return figures


def _replies(result: GameResult) -> Group:
    """Print how the language models replied, and the cost of a decision."""
    every = [row.validity for row in result.rows if row.validity is not None]
    kinds = [kind for kind in KINDS if kind == "illegal" or any(validity.shares[kind].mean for validity in every)]
    ends = [end for end in ENDS if any(validity.ends[end].mean for validity in every)]
    grid = table("  replies", "player", "decisions", *kinds, *ends, "prompt tokens", "reply tokens", "ms")
    for row in result.rows:
        if (validity := row.validity) is not None:
            shares = [cell(share) for share in (*map(validity.shares.get, kinds), *map(validity.ends.get, ends))]
            costs = [f"{validity.prompt_tokens:.0f}", f"{validity.reply_tokens:.1f}", f"{validity.ms:.1f}"]
            grid.add_row(_short(row.player, result), str(validity.num_decisions), *shares, *costs)
    return Group(grid)


def _opponents(result: GameResult) -> Group:
    grid = table("  by opponent", "player", "opponent", "pools", "pay", "their advantage")
    for row in result.rows:
        for matchup in row.matchups:
            pools = Text(", ".join(matchup.pools))
            grid.add_row(
                _short(row.player, result),
                _short(matchup.opponent, result),
                pools,
                cell(matchup.payoff()),
                cell(matchup.advantage()),
            )
    return Group(grid)


def _seats(result: GameResult, row: Row, opponent: str) -> Group:
    """Return a player's figures at each seat against an opponent."""
    seats = [seat for seat in row.by_seat if seat.opponent == opponent]
    names = [name for name in seats[0].metrics if any(seat.metrics[name] for seat in seats)]
    title = f"  {_short(row.player, result)} by seat, against {_short(opponent, result)}"
    grid = table(title, "seat", "episodes", *names)
    for seat in seats:
        cells = [cell(seat.metrics[name], METRICS[name].digits) for name in names]
        grid.add_row(Text(seat.seat), str(seat.episodes), *cells)
    return Group(grid)


def _remarks(result: GameResult, adjusted: Mapping[tuple[str, str], float]) -> None:
    for row in result.rows[1:]:
        if row.player != CHANCE:
            holm = adjusted.get((result.text, row.player)) if len(adjusted) > 1 else None
            out.print(Text(f"  {_difference(result, row, holm)}"))
    lacking = [row.exploitability for row in result.rows if row.exploitability.estimate is None]
    for reason in dict.fromkeys(f"no exact figure: {found.why_not_exact}" for found in lacking):
        out.print(Text(f"  {reason}", style="dim"))
    _bases(result)
    for warning in result.warnings:
        errors.print(Text(f"  warning: {warning}", style="yellow"))
    out.print()


def _bases(result: GameResult) -> None:
    """Print what figures are based on that are not exact."""
    for row in result.rows:
        name = _short(row.player, result)
        if line := basis_line(name, row.exploitability):
            out.print(line)


def _difference(result: GameResult, row: Row, holm: float | None) -> str:
    """Return the difference of a player's payoff to the first's.

    Exact where both are, else from the deals that both played.

    `holm` is the p adjusted for the other comparisons of the evaluation; None where there is no other.
    """
    first = result.rows[0]
    title = f"{_short(row.player, result)} minus {_short(first.player, result)}"
    pay, base = row.metrics.get("pay"), first.metrics.get("pay")
    if pay is not None and base is not None and both_exact(result, row):
        return f"{title}: pay {number(pay.mean - base.mean)} (exact)"
    difference = result.differences[row.player]
    if not difference.estimate.n:
        return f"{title}: they have no deal in common"
    least = difference.detectable
    why = "fewer than six deals" if difference.estimate.n < LEAST_FLIPPED else "all deals differ alike"
    detectable = f"minimum detectable difference {f'– ({why})' if isnan(least) else number(least)}"
    p = f"p = {difference.p_value:.4f}" + ("" if holm is None else f", Holm p = {holm:.4f}")
    return f"{title} on the same deals: pay {difference.estimate}, {p}, {detectable}"
