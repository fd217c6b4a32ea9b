"""Cost of a league beside playing and learning: its bookkeeping, and many adapters in place of one.

Bookkeeping: drawing opponents and entering results, with so many members, as a share of an iteration of one learner
in kuhn; rating the learner in every iteration and all members at a validation, which only the rule that goes by
ratings does; and writing members and results where people look, which a checkpoint does. Adapters: the same games
against opponents who speak by several adapters and by one, rounds taken in turn, the best of each. `python
benchmarks/league.py`.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from stratagem.algorithms.league.algorithm import PopulationOpponents
from stratagem.algorithms.league.ratings import MEAN, elo_among
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.state import LeagueState
from stratagem.games import Key, make_game
from stratagem.language.models.load import load
from stratagem.players.base import Player
from stratagem.playing.workers.shards import play_setups
from stratagem.training.branch_groups import Lineup, Opponents
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.collector import merge
from stratagem.training.opponents.booking import baseline, book
from stratagem.training.opponents.matchmaking import PFSP, Situation
from stratagem.training.opponents.member import Member
from stratagem.training.opponents.member_players import MemberPlayers
from stratagem.training.opponents.results import Results
from stratagem.training.runs.folder import RunFolder

ROUNDS = 5
GAME = "kuhn(hands=1)"


class InTurn(Opponents):
    """Opponents one after the other."""

    def __init__(self, players: list[Player]) -> None:
        self._players = cycle(players)

    def draw(self, key: Key) -> Lineup:
        """The next of them."""
        player = next(self._players)
        return Lineup((player.name,), (player,))


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def step(state: LeagueState, players: list[Player], number: int) -> None:
    """An iteration of the learner against these: games, credit, one step."""
    trained = state.learners["main"]
    collector = BranchedRollouts(state.recipe.league, make_game(GAME), trained.player, Key(number), InTurn(players))
    groups = collector.groups(number)
    trained.update_weights(merge([collector.make_batch(groups, play_setups(collector.setups(groups)))]).examples)


def bookkeeping(state: LeagueState, seats: MemberPlayers, members: int) -> float:
    """Seconds of drawing and entering as many matches as an iteration has, with so many members."""
    population, results, game = state.population, state.results, make_game(GAME)
    for number in range(members - len(population)):
        population.add(Member(name=f"m{number}", role="bot", player="random"))
        results.add(f"m{number}")
    learner = population["main"]
    situation = Situation(population, results)
    matched = PopulationOpponents(PFSP(), learner, situation, seats, game.spec.seats - 1)
    settings = state.recipe.league
    collector = BranchedRollouts(settings, game, state.learners["main"].player, Key(1), matched)
    groups = collector.groups(0)
    setups = list(collector.setups(groups))
    episodes, heads = play_setups(setups), setups[:: settings.group_size]
    copy = Results.of(results.state())

    def work() -> None:
        again = PopulationOpponents(PFSP(), learner, situation, seats, game.spec.seats - 1)
        for group in groups:
            again.draw(group.key)
        worth = [baseline(setup.begin(), settings.match_score) for setup in heads]
        book(copy, "main", groups, worth, episodes)

    return min(timed(work) for _ in range(ROUNDS))


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=500)
    parser.add_argument("--adapters", type=int, default=8)
    asked = parser.parse_args()
    print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), **vars(asked)}))
    data = {
        "games": [GAME],
        "temperature": 1.0,
        "league": {"groups_per_batch": 24, "group_size": 4, "max_loaded_adapters": asked.adapters + 1},
    }
    with TemporaryDirectory() as folder:
        recipe = LeagueRecipe.read(data)
        state = LeagueState(
            recipe,
            RunFolder.create(Path(folder) / "run", recipe, 0, "a benchmark"),
            {recipe.learner_bases[0]: load("tiny")},
        )
        seats = state.member_players(make_game(GAME))
        kept: list[Player] = []
        for number in range(asked.adapters):
            for weight in state.learners["main"].learner.optimizer.weights:
                weight.data.add_(1e-3)
            state.engines[recipe.learner_bases[0]].publish("main", number)
            kept.append(seats.player(state.add_snapshot("main", number)))
        best = {1: float("inf"), asked.adapters: float("inf")}
        for number in range(ROUNDS):
            for count in best:
                some = list(islice(kept, count))
                best[count] = min(best[count], timed(lambda some=some, n=number: step(state, some, n)))  # type: ignore[misc]
        one, many = best[1], best[asked.adapters]
        share = bookkeeping(state, seats, asked.members)
        written = min(timed(state.publish) for _ in range(ROUNDS))
        others = [member.name for member in state.population.of(learns=False)]
        for number, name in enumerate(others):
            for game in range(4):
                state.results.record("main", name, float((number + game) % 3 == 0))
        own = state.results.counts("main", others)
        alone = min(timed(lambda: elo_among(*own, np.full(len(others), MEAN))) for _ in range(ROUNDS))
        rated = min(timed(state.rate) for _ in range(ROUNDS))
    print(f"an iteration of 96 games against 1 adapter       {one:7.3f} s")
    print(f"the same against {asked.adapters:2} adapters                     {many:7.3f} s  {many / one:.2f} times")
    print(f"drawing and entering them with {asked.members} members       {share:7.4f} s  {share / one:.2%} of it")
    print(f"rating the learner, for `rating_near` alone      {alone:7.4f} s  {alone / one:.2%} of it")
    print(f"rating them all for it, at a validation          {rated:7.4f} s  {rated / one:.2%} of it")
    print(f"writing them down, at a checkpoint               {written:7.4f} s  {written / one:.2%} of it")


if __name__ == "__main__":
    main()
