"""`stratagem play`: a match between named players, printed turn by turn."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Annotated, Any

import typer
from rich.text import Text

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import cell, print_json, progress, table
from stratagem.cli.transcript import episode_json, tell
from stratagem.errors import BadParameter
from stratagem.evaluation.statistics import Estimate, ratio
from stratagem.games.base import Game
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.play.match import Match
from stratagem.play.records import Episode
from stratagem.play.scheduler import play
from stratagem.play.seating import rotated
from stratagem.play.store import record
from stratagem.players.catalogue import make_player
from stratagem.players.human import at_keyboard


def play_match(
    game: Annotated[str, typer.Argument(help="The game, such as `kuhn` or `ipd(rounds=20)`.")],
    players: Annotated[list[str], typer.Option(help="The players, one for each seat; one name serves all seats.")],
    episodes: Annotated[int, typer.Option(min=1, help="How many episodes; seats rotate from one to the next.")] = 1,
    seed: options.Seed = 0,
    record_to: options.Record = None,
    timeout: options.Timeout = None,
    tries: options.Tries = None,
    concurrency: options.Concurrency = None,
    max_failures: options.MaxFailures = None,
    told: Annotated[int, typer.Option(min=0, help="How many episodes to tell turn by turn.")] = 1,
    json: options.Json = False,
) -> None:
    """Play a match and print it turn by turn."""
    made = make_game(game)
    names = players * made.spec.seats if len(players) == 1 else players
    match = Match(made, [make_player(name, made) for name in names])
    seated = any(at_keyboard(player) for player in match.players)
    if json and seated:
        raise BadParameter("--json prints for programs and a human needs the screen: leave one of them out.")
    setups = islice(rotated(match, episodes, Key(seed), name=f"{match.text}/{seed}"), episodes)
    folder = options.fresh(record_to)
    played = play(setups, live=1 if seated else 256)
    if folder is not None:
        played = record(played, folder)
    finished: list[Episode] = []
    with progress(episodes, quiet=json or seated) as step:
        for episode in played:
            step(match.text)
            finished.append(episode if json or len(finished) < told else replace(episode, decisions=[]))
    if json:
        print_json([episode_json(episode) for episode in finished])
        return
    for episode in finished[:told]:
        tell(episode)
    if episodes > 1:
        _totals(made, match, finished)


def _totals(game: Game[Any], match: Match, episodes: list[Episode]) -> None:
    made = table(f"{len(episodes)} episodes, {game.spec.unit}", "player", "pay", "wins", "illegal turns")
    for slot, name in enumerate(match.names):
        pay = _pay(episodes, slot)
        wins = sum(e.payoffs[e.seat_of(slot)] == max(e.payoffs) > min(e.payoffs) for e in episodes)
        illegal = sum(e.num_illegal[e.seat_of(slot)] for e in episodes)
        made.add_row(Text(name), cell(pay), str(wins), str(illegal))
    out.print(made)


def _pay(episodes: list[Episode], slot: int) -> Estimate:
    """Return the mean payoff of a player over all rounds, as an evaluation counts it."""
    return ratio(episodes, lambda e: e.payoffs[e.seat_of(slot)], lambda e: max(1, len(e.rounds)), lambda e: e.group)
