"""`stratagem tournament`: the cross-play matrix of any players."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.console import Text
from stratagem.api.tournaments import TournamentSettings, plan_tournament
from stratagem.cli import completion, options
from stratagem.cli.broken_off import played
from stratagem.cli.console import errors, out
from stratagem.cli.evaluate import EvaluationOutput
from stratagem.cli.output import cell, print_json, print_remarks, table, write_json
from stratagem.evaluation.evaluate import CHANCE
from stratagem.evaluation.tournament import CrossPlay


def play_tournament(
    game: Annotated[str, typer.Argument(help="Game.", autocompletion=completion.games)],
    players: Annotated[
        list[str] | None,
        typer.Option(help="Players; by default those of the game's pools.", autocompletion=completion.players),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes per pair.")] = 20,
    chance: Annotated[bool, typer.Option(help="Include random play as the chance level.")] = True,
    engine: options.Engine = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    seed: options.Seed = 0,
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
    """Play all pairs of players and print the cross-play matrix of payoffs."""
    settings = TournamentSettings(
        game, players or (), episodes=episodes, seed=seed, chance=chance, record=record_to, resume=resume
    )
    so_far = EvaluationOutput(by_opponent=True, json=json).show
    finished = played(plan_tournament(settings), so_far, quiet=json)
    data, result = finished.to_json(), finished.cross_play
    if write_to is not None:
        write_json(data, write_to)
    if json:
        print_json(data)
        return
    out.print(_matrix(result, episodes))
    out.print(
        "Payoff per round of the row against the column. A bare figure is exact; ± is a standard error over deals.",
        highlight=False,
    )
    print_remarks(finished)
    for warning in result.warnings:
        errors.print(Text(f"warning: {warning}", style="yellow"))


def _matrix(result: CrossPlay, episodes: int) -> object:
    order, means = result.ranking(), result.means
    how = f"{episodes} episodes per pair where play is sampled, seats rotated over paired deals"
    title = f"{result.text}   {how}, {result.game.spec.unit}"
    grid = table(title, "", "player", "mean vs others", *(str(rank) for rank in range(1, len(order) + 1)))
    grid.columns[1].justify = "left"
    for rank, row in enumerate(order, 1):
        cells = [cell(result.pay[row][column], 2) for column in order]
        short = "random (chance)" if result.players[row] == CHANCE else result.players[row]
        short = short.removeprefix(f"{result.game.spec.family}/")
        grid.add_row(str(rank), Text(short), cell(means[row]), *cells)
    return grid
