"""Games of Diplomacy in which seven different players meet: `python experiments/mixed_table.py RECORD OUT.json`.

The record is that of `stratagem play` with seven players, whose seats rotate: seven games a deal. Prints each player's
mean share of the sum of squares with its 95 % interval over deals, its centres, and the share of games in which nobody
has more centres. Shares of a game sum to one, so an equal of the others has 1/7.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from result_tables import interval, markdown, write_results

from stratagem.base.provenance import provenance
from stratagem.measure.statistics import Estimate, clustered_mean, students
from stratagem.playing.records import Episode
from stratagem.playing.store import read_episodes

FIGURES = ("share", "centres", "first")
CENTRES = 34


class Seated(NamedTuple):
    """A player in one game."""

    player: str
    deal: str
    share: float
    centres: float
    first: float


def seated(episode: Episode) -> Iterator[Seated]:
    """Yield the result of every seat of a finished game."""
    shares = [share or 0.0 for share in episode.signals["centers"][-1]]
    for seat, player in enumerate(episode.players):
        first = float(shares[seat] == max(shares))
        yield Seated(player.rpartition("@")[0], episode.group, episode.payoffs[seat], CENTRES * shares[seat], first)


def figures(rows: Sequence[Seated]) -> dict[str, dict[str, Estimate]]:
    """Estimate the figures of every player over deals, the best player first."""
    by_player: dict[str, list[Seated]] = {}
    for row in rows:
        by_player.setdefault(row.player, []).append(row)
    found = {
        player: {name: students(clustered_mean(own, attrgetter(name), attrgetter("deal"))) for name in FIGURES}
        for player, own in by_player.items()
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]["share"].mean))


def table(found: Mapping[str, Mapping[str, Estimate]]) -> str:
    """Format the figures."""
    rows = (
        [
            f"`{player}`",
            f"{own['share'].mean:.3f} {interval(own['share'], '.3f')}",
            f"{own['centres'].mean:.2f}",
            f"{100 * own['first'].mean:.0f}",
        ]
        for player, own in found.items()
    )
    return markdown(["player", "sum of squares [95 %]", "centres", "first, ties included, %"], rows)


def main() -> None:
    """Measure a record, write the JSON and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    episodes = [episode for episode in read_episodes(arguments.record, calls=False) if episode.finished]
    found = figures([row for episode in episodes for row in seated(episode)])
    data: dict[str, Any] = {"made by": provenance(), "games": len(episodes)}
    players = {player: {name: asdict(of) for name, of in own.items()} for player, own in found.items()}
    write_results(arguments.out, data | {"players": players})
    print(f"{len(episodes)} games\n\n{table(found)}")


if __name__ == "__main__":
    main()
