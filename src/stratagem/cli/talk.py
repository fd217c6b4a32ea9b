"""`stratagem talk`: figures of the messages between two players."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.talks import talk as measure_talk
from stratagem.cli import options
from stratagem.cli.output import print_result
from stratagem.games.tree_walk import BUDGET


def talk(
    game: Annotated[
        str, typer.Argument(help="Game with talk: `talk(kuhn(hands=1), before=round)`, `sender-receiver`.")
    ],
    speaker: Annotated[str, typer.Argument(help="Player whose messages are measured: `honest(NashApprox)`.")],
    reader: Annotated[str, typer.Argument(help="Player that reads them: `believer(NashApprox)`.")],
    exchange: Annotated[int, typer.Option(help="Number of the exchange, of those in which the speaker speaks.")] = 1,
    episodes: Annotated[int, typer.Option(help="Number of episodes at each seat, to measure by play; 0 is exact.")] = 0,
    seed: options.Seed = 0,
    exact_budget: Annotated[
        int, typer.Option(help="Largest number of nodes of the game's tree, if it is above 500,000.")
    ] = BUDGET,
    engine: options.Engine = None,
    max_failed: options.MaxFailed = None,
    json: options.Json = False,
) -> None:
    """Measure the messages between two players: truth, promises, information, deception, effect and gullibility."""
    found = measure_talk(
        game,
        speaker,
        reader,
        exchange=exchange,
        episodes=episodes,
        seed=seed,
        exact_budget=exact_budget,
        engine=engine,
    )
    print_result(found, json=json)
