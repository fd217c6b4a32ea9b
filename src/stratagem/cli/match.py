"""`stratagem play`: a match between named players, printed turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any

import typer
from rich.text import Text

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import cell, print_json, progress, table
from stratagem.cli.transcript import episode_json, print_episode
from stratagem.errors import BadParameter
from stratagem.evaluation.statistics import Estimate, ratio
from stratagem.games.base import Game
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.play.match import Match
from stratagem.play.records import Episode
from stratagem.play.scheduler import play
from stratagem.play.seating import rotated
from stratagem.players.catalogue import make_player
from stratagem.players.human import at_keyboard


def play_match(
    game: Annotated[str, typer.Argument(help="Game, such as `kuhn` or `ipd(rounds=20)`.")],
    players: Annotated[list[str], typer.Option(help="Players, one per seat; a single name is used for all seats.")],
    episodes: Annotated[int, typer.Option(min=1, help="Number of episodes; seats rotate between them.")] = 1,
    engine: options.Engine = None,
    seed: options.Seed = 0,
    record_to: options.Record = None,
    timeout: options.Timeout = None,
    tries: options.Tries = None,
    concurrency: options.Concurrency = None,
    max_failures: options.MaxFailures = None,
    shown: Annotated[int, typer.Option("--show", min=0, help="Number of episodes to print turn by turn.")] = 1,
    json: options.Json = False,
) -> None:
    """Play a match and print it turn by turn."""
    instance = make_game(game)
    names = players * instance.spec.seats if len(players) == 1 else players
    match = Match(instance, [make_player(name, instance) for name in names])
    seated = any(at_keyboard(player) for player in match.players)
    if json and seated:
        raise BadParameter("--json prints for programs and a human needs the screen: leave one of them out.")
    setups = islice(rotated(match, episodes, Key(seed), name=f"{match.text}/{seed}"), episodes)
    folder = options.fresh(record_to)
    played: Iterator[Episode] = play(setups, live=1 if seated else 256)
    if folder is not None:
        from stratagem.play.store import record

        played = record(played, folder)
    finished: list[Episode] = []
    with progress(episodes, quiet=json or seated) as step:
        for episode in played:
            step(match.text)
            finished.append(episode if json or len(finished) < shown else replace(episode, decisions=[]))
    if json:
        print_json([episode_json(episode) for episode in finished])
        return
    for episode in finished[:shown]:
        print_episode(episode)
    if episodes > 1:
        _totals(instance, match, finished)


def _totals(game: Game[Any], match: Match, episodes: list[Episode]) -> None:
    grid = table(f"{len(episodes)} episodes, {game.spec.unit}", "player", "payoff", "wins", "illegal turns")
    for slot, name in enumerate(match.names):
        pay = _pay(episodes, slot)
        wins = sum(e.payoffs[e.seat_of(slot)] == max(e.payoffs) > min(e.payoffs) for e in episodes)
        illegal = sum(e.num_illegal[e.seat_of(slot)] for e in episodes)
        grid.add_row(Text(name), cell(pay), str(wins), str(illegal))
    out.print(grid)


def _pay(episodes: list[Episode], slot: int) -> Estimate:
    """Return the mean payoff of a player over all rounds, as an evaluation counts it."""
    return ratio(episodes, lambda e: e.payoffs[e.seat_of(slot)], lambda e: max(1, len(e.rounds)), lambda e: e.group)
