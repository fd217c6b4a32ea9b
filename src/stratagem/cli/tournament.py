"""`stratagem tournament`: the cross-play matrix of any players."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.tournaments import TournamentSettings, plan_tournament
from stratagem.cli import completion, options
from stratagem.cli.broken_off import played
from stratagem.cli.evaluate import EvaluationOutput
from stratagem.cli.output import print_result, write_json


@options.with_options(options.LOCAL, options.WORK, options.SERVERS)
def play_tournament(
    game: Annotated[str, typer.Argument(help="Game.", autocompletion=completion.games)],
    players: Annotated[
        list[str] | None,
        typer.Option(help="Players; by default those of the game's pools.", autocompletion=completion.players),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes per pair.")] = 20,
    chance: Annotated[bool, typer.Option(help="Include random play as the chance level.")] = True,
    seed: options.Seed = 0,
    write_to: options.Out = None,
    record_to: options.Record = None,
    resume: options.Resume = False,
    json: options.Json = False,
) -> None:
    """Play all pairs of players and print the cross-play matrix of payoffs."""
    settings = TournamentSettings(
        game, players or (), episodes=episodes, seed=seed, chance=chance, record=record_to, resume=resume
    )
    so_far = EvaluationOutput(everything=True, json=json).show
    finished = played(plan_tournament(settings), so_far, quiet=json)
    if write_to is not None:
        write_json(finished.to_json(), write_to)
    print_result(finished, json=json)
