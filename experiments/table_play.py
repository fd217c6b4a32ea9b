"""Results of the play that a table of decisions implies: `python experiments/table_play.py RUN/steps/0.parquet`.

A player that looks its situation up in the table and, as cloning would have it, draws among the actions that won more
often than not, as often as each was played; or takes the one with the best win rate (drawn towards one half while it
was seen a few times only). Where the table knows nothing, or nothing good, it plays at random. What a model makes of
the same table says how much of it was learnt; what such a player wins says what there was to be learnt.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.algorithms.scopal.steps import read_steps
from stratagem.base.provenance import provenance
from stratagem.games.catalogue import describe, make_game
from stratagem.games.key import Key
from stratagem.measure.metrics.win_rate import share_of_win
from stratagem.measure.statistics import clustered_mean
from stratagem.players.base import Ask, Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.members import PlayerBase
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

WAYS = ("cloned", "best")


class ActionCount(NamedTuple):
    """An action of a situation: how often it was played, and how often it won, a tie being half a win."""

    played: int
    won: float

    @property
    def rate(self) -> float:
        """Its win rate, with one win and one loss more."""
        return (self.won + 1.0) / (self.played + 2.0)


Table = Mapping[str, Mapping[str, ActionCount]]
"""By situation, the actions that were played there."""


class Looked(PlayerBase):
    """Plays what a table says."""

    traits = Traits(memory=None, exact=False)

    def __init__(self, table: Table, way: str) -> None:
        self.name = way
        self.known = self.asked = 0
        self._table = table

    def turn(self, ask: Ask) -> Move:
        """The table's action, or a random one."""
        choices = ask.view.choices
        seen = {action: one for action, one in self._table.get(ask.view.state_key, {}).items() if action in choices}
        if self.name == "cloned":
            seen = {action: one for action, one in seen.items() if one.won / one.played > 0.5}
        self.asked, self.known = self.asked + 1, self.known + bool(seen)
        if not seen:
            return Move(choices.sample(ask.key))
        if self.name == "best":
            return Move(max(seen, key=lambda action: seen[action].rate))
        return Move(list(seen)[ask.key.choose([float(one.played) for one in seen.values()])])


def tables(path: Path) -> dict[str, Table]:
    """The actions of every game of a table of steps."""
    rows = read_steps(path).rows.select(["game", "state_key", "action", "count", "outcome"]).to_pydict()
    found: dict[str, dict[str, dict[str, ActionCount]]] = defaultdict(lambda: defaultdict(dict))
    for game, state, action, count, outcome in zip(*rows.values(), strict=True):
        if action is not None:
            seen = found[game][state].get(action, ActionCount(0, 0.0))
            found[game][state][action] = ActionCount(seen.played + count, seen.won + outcome)
    return dict(found)


def row(name: str, table: Table, way: str, opponents: list[str], episodes: int, key: Key) -> dict[str, Any]:
    """Compute the results of a policy over a game's table against each opponent."""
    game, player = make_game(name), Looked(table, way)
    rates = {}
    for opponent in opponents:
        match = Match(game, [player, make_player(opponent, game)])
        played = play(rotate_seats(match, episodes, key, name=opponent))
        rates[opponent] = clustered_mean(played, share_of_win, lambda episode: episode.group)
    return {
        "game": describe(game),
        "way": way,
        "won": {opponent: rate.to_json() for opponent, rate in rates.items()},
        "mean": sum(rate.mean for rate in rates.values()) / len(rates),
        "known": player.known / max(1, player.asked),
    }


def main() -> None:
    """Print a line for each game and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", type=Path, help="a table of steps")
    parser.add_argument("--opponents", nargs="+", default=["random", "mcts:10"])
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for name, table in sorted(tables(given.steps).items()):
        for way in WAYS:
            rows.append(row(name, table, way, given.opponents, given.episodes, Key(given.seed)))
            each = ", ".join(f"{opponent} {rate['mean']:.3f}" for opponent, rate in rows[-1]["won"].items())
            print(f"{name:16} {way:7} {rows[-1]['mean']:.3f} ({each}), known {rows[-1]['known']:.0%}", flush=True)
    if given.out:
        told = {"rows": rows, "seed": given.seed, "made_by": provenance()}
        given.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
