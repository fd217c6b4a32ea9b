"""`stratagem serve`: players behind OpenAI's chat protocol, for other harnesses."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from stratagem.api.endpoints import CONCURRENCY, HOST, KEY_VARIABLE, PORT, TIMEOUT, serve
from stratagem.cli import completion, options
from stratagem.cli.console import out


def serve_players(
    players: Annotated[
        list[str],
        typer.Argument(help="Players, such as `NashApprox` or `run:PATH`.", autocompletion=completion.players),
    ],
    game: Annotated[str, typer.Option(help="Game that they play.", autocompletion=completion.games)],
    host: Annotated[str, typer.Option(help=f"Address; beyond this machine it needs a key in {KEY_VARIABLE}.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = PORT,
    style: Annotated[
        list[str] | None,
        typer.Option(
            help="Prompt style with options whose prompts are recognised, beside those without. Repeatable.",
            autocompletion=completion.styles,
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds until a request is given up.")] = TIMEOUT,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Largest number of scripted players at work at once.")
    ] = CONCURRENCY,
    engine: options.Engine = None,
) -> None:
    """Serve players of a game behind OpenAI's chat protocol, until Ctrl-C."""
    served = serve(players, game, host=host, port=port, styles=style or (), timeout=timeout, concurrency=concurrency)
    with served, suppress(KeyboardInterrupt):
        for name in players:
            out.print(f"model {name} at {served.url}", highlight=False, markup=False)
        served.wait()
