"""`stratagem collusion`: what two seats gain by talk against the others."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.collusions import collusion as measure_collusion
from stratagem.cli import options
from stratagem.cli.output import print_result


def collusion(
    game: Annotated[str, typer.Argument(help="Game with talk and three seats or more: `talk(auction(seats=3))`.")],
    first: Annotated[str, typer.Argument(help="First player of the pair, such as `ring(Truthful, partner=1)`.")],
    second: Annotated[str, typer.Argument(help="Second player of the pair.")],
    others: Annotated[str, typer.Argument(help="Player at all other seats.")],
    seats: Annotated[tuple[int, int], typer.Option(help="Seats of the pair, where the rules do not make partners.")] = (
        0,
        1,
    ),
    deals: Annotated[int, typer.Option(help="Number of deals, each played in six ways.")] = 200,
    seed: options.Seed = 0,
    engine: options.Engine = None,
    max_failed: options.MaxFailed = None,
    json: options.Json = False,
) -> None:
    """Measure collusion in words: what two seats gain by talk against the others, in public and in private."""
    found = measure_collusion(game, first, second, others, seats=seats, deals=deals, seed=seed, engine=engine)
    print_result(found, json=json)
