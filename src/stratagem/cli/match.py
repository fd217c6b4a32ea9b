"""`stratagem play`: a match between named players, printed turn by turn."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.matches import play
from stratagem.cli import completion, options
from stratagem.cli.output import print_json, print_result
from stratagem.cli.transcript import print_episode
from stratagem.errors import BadParameter
from stratagem.play.records import episode_json
from stratagem.players.given import as_game, as_player
from stratagem.players.human import at_keyboard


@options.with_options(options.LOCAL, options.SERVERS)
def play_match(
    game: Annotated[
        str, typer.Argument(help="Game, such as `kuhn` or `ipd(rounds=20)`.", autocompletion=completion.games)
    ],
    players: Annotated[
        list[str],
        typer.Option(
            help="Players, one per seat; a single name is used for all seats.", autocompletion=completion.players
        ),
    ],
    episodes: Annotated[int, typer.Option(min=1, help="Number of episodes; seats rotate between them.")] = 1,
    seed: options.Seed = 0,
    record_to: options.Record = None,
    shown: Annotated[int, typer.Option("--show", min=0, help="Number of episodes to print turn by turn.")] = 1,
    json: options.Json = False,
) -> None:
    """Play a match and print it turn by turn."""
    instance = as_game(game)
    names = players * instance.spec.seats if len(players) == 1 else players
    seated = [as_player(name, instance) for name in names]
    if json and any(at_keyboard(player) for player in seated):
        raise BadParameter("--json prints for programs and a human needs the screen: leave one of them out.")
    kept = None if json else shown
    result = play(instance, seated, episodes=episodes, seed=seed, record=record_to, keep=kept, progress=not json)
    finished = result.episodes
    if json:
        print_json([episode_json(episode) for episode in finished])
        return
    for episode in finished[:shown]:
        print_episode(episode)
    if episodes > 1 or not shown:
        print_result(result, json=False)
