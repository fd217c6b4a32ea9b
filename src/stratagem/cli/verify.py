"""`stratagem verify-game`: checks of a game against its declaration."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.verification import verify
from stratagem.cli import completion, options
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.games.conformance.brute_force import HISTORIES


def verify_game(
    game: Annotated[
        str,
        typer.Argument(help="Game, or an environment such as textarena:KuhnPoker-v0.", autocompletion=completion.games),
    ],
    episodes: Annotated[int, typer.Option(min=1, help="Random episodes per check.")] = 30,
    seed: options.Seed = 0,
    brute_force: Annotated[
        bool,
        typer.Option("--brute-force", help="Compare exact figures of random policies with those of every history."),
    ] = False,
    histories: Annotated[int, typer.Option(min=1, help="Largest number of histories of --brute-force.")] = HISTORIES,
    json: options.Json = False,
) -> None:
    """Check a game or an environment against its declaration, and against OpenSpiel where it has the game."""
    report = verify(game, episodes=episodes, seed=seed, brute_force=brute_force, histories=histories).report
    print_json(report.to_json()) if json else out.print(str(report), markup=False, highlight=False)
    if not report.ok:
        raise typer.Exit(1)
