"""Speed of Diplomacy, as a ratio to a bare loop over the engine, in one run.

Both draw uniformly among the orders that the engine offers for each unit, to the same year. Ours keeps every position
and its orders, derives each draw from a key and could fork anywhere; the bare loop keeps nothing of its own. Further
lines: the same with each order judged, DumbBot at all seven seats, and what a decision of DumbBot takes. Run with
`python benchmarks/diplomacy_play.py`; `--processes 2` plays in two processes at once.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from diplomacy import Game

from stratagem.games import Key, make_game
from stratagem.players.base import Ask
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

ROUNDS = 5


def bare(year: int, games: int, seed: int) -> int:
    """The engine's own loop; how many phases it played."""
    dice, phases = random.Random(seed), 0
    for _ in range(games):
        game = Game()
        while not game.is_game_done and not ends(game.get_current_phase(), year):
            possible = game.get_all_possible_orders()
            for power, places in game.get_orderable_locations().items():
                game.set_orders(power, [dice.choice(possible[place]) for place in places if possible[place]])
            game.process()
            phases += 1
    return phases


def ends(phase: str, year: int) -> bool:
    """Return whether a phase comes after the last count."""
    return int(phase[1:5]) > year or (int(phase[1:5]) == year and phase.endswith("A"))


def ours(year: int, games: int, seed: int, player: str = "random", judged: bool = False) -> int:
    """The same through matches; seats are rotated over deals of seven games."""
    game = make_game(f"diplomacy(until={year}, judged={judged})")
    match = Match(game, [make_player(player, game)] * 7)
    episodes = play(rotate_seats(match, games, Key(seed), name="bench"))
    return sum(1 + max(row.turn for row in episode.decisions) for episode in episodes)


def phases_a_second(run: Callable[[int], int], processes: int) -> float:
    """Over as many processes as are asked for, each with a seed of its own."""
    start = time.perf_counter()
    if processes == 1:
        phases = run(0)
    else:
        with ProcessPoolExecutor(processes) as pool:
            phases = sum(pool.map(run, range(processes)))
    return phases / (time.perf_counter() - start)


def dumbbot_ms(year: int) -> float:
    """Return the time of one of its decisions, the board being known."""
    game = make_game(f"diplomacy(until={year}, judged=False)")
    bot, state, turn, spent, asked = make_player("dumbbot", game), game.start(Key(0)), 0, 0.0, 0
    while not state.over:
        moves = {}
        for seat in state.to_act:
            view = state.view(seat)
            start = time.perf_counter()
            moves[seat] = bot.turn(Ask(view, Key(0), seat, turn, 0, None)).action  # type: ignore[union-attr]
            spent, asked = spent + time.perf_counter() - start, asked + 1
        state.play(moves)
        turn += 1
    return 1e3 * spent / asked


def main() -> None:
    """Print phases a second, and the ratio of the best rounds, which are played in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", type=int, nargs="+", default=[1903, 1905, 1910])
    parser.add_argument("--games", type=int, default=7, help="a multiple of seven, since seats are rotated")
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args()
    print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), **vars(asked)}))
    ways: dict[str, Callable[[int, int, int], int]] = {
        "bare engine": bare,
        "ours": ours,
        "ours, judged": partial(ours, judged=True),
        "ours, dumbbot": partial(ours, player="dumbbot"),
    }
    for year in asked.years:
        best = dict.fromkeys(ways, 0.0)
        for _ in range(ROUNDS):
            for name, way in ways.items():
                best[name] = max(best[name], phases_a_second(partial(way, year, asked.games), asked.processes))
        for name, speed in best.items():
            times = speed / best["bare engine"]
            print(f"until {year}  {name:14} {speed:8.1f} phases a second  {times:.2f} times the bare engine")
        print(f"until {year}  dumbbot        {dumbbot_ms(year):8.2f} ms a decision")


if __name__ == "__main__":
    main()
