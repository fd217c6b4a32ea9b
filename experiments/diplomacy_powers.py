"""One player's Diplomacy games by power and by year, from a record: `python experiments/diplomacy_powers.py FOLDER`.

The record is that of an evaluation, one against six of a kind with the seats rotated: `stratagem eval
'diplomacy(judged=False)' --player dumbbot --opponents dumbbot --episodes 210 --no-chance --record FOLDER`. Centres by
year are those that were owned after each Fall's count, by playing the games again. `--picture NAME.svg` draws the sum
of squares by power, and `--out NAME.json` keeps everything.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dots import Dot, picture

from stratagem.evaluation.metrics.standing import standing
from stratagem.evaluation.statistics import Estimate, clustered, rate
from stratagem.games.catalogue import make_game
from stratagem.games.diplomacy import Diplomacy
from stratagem.play.forks import steps
from stratagem.play.records import Episode
from stratagem.play.store import read_episodes
from stratagem.provenance import provenance, source

Table = Mapping[str, Mapping[str, Any]]


def games(folder: Path, player: str, opponent: str) -> Iterator[Episode]:
    """The episodes in which one player sat alone against six of another."""
    heroes = set[str]()
    for episode in read_episodes(folder, calls=False):
        hero = episode.seat_of(0)
        others = {name for seat, name in enumerate(episode.players) if seat != hero}
        if player in episode.players[hero] and all(opponent in name for name in others):
            heroes.add(episode.players[hero])
            yield episode
        if len(heroes) > 1:
            raise SystemExit(f"The record has several heroes: say `--player` one of {', '.join(sorted(heroes))}.")


def by_year(episode: Episode) -> dict[int, int]:
    """How many centres the hero owned after each year's count."""
    hero, owned, year = episode.seat_of(0), dict[int, int](), 0
    power = powers_of(episode)[hero]
    for state, _ in steps(episode):
        board = state.view(hero).facts.board
        if not board.over:
            year = board.year - 1 if board.phase.startswith("S") else board.year
        owned[year] = len(board.centers(power))
    return {year: count for year, count in owned.items() if year > 1900}


def powers_of(episode: Episode) -> Sequence[str]:
    """The powers of the seats."""
    game = make_game(episode.game)
    assert isinstance(game, Diplomacy)
    return game.powers


def told(episodes: Sequence[Episode]) -> dict[str, Any]:
    """What some games came to for the hero."""
    return {
        "games": len(episodes),
        "sum_of_squares": clustered(episodes, paid, by_deal).to_json(),
        "centers": clustered(episodes, lambda episode: 34 * standing(episode)[0], by_deal).to_json(),
        "first": rate(episodes, is_first, lambda _: 1.0, by_deal).to_json(),
        "eliminated": clustered(episodes, lambda episode: 1.0 - standing(episode, "alive")[0], by_deal).to_json(),
    }


def paid(episode: Episode) -> float:
    """What the hero was paid."""
    return episode.payoffs[episode.seat_of(0)]


def is_first(episode: Episode) -> float:
    """Whether nobody owns more."""
    own, others = standing(episode)
    return float(own >= max(others))


def by_deal(episode: Episode) -> str:
    """Games of one deal, in which the hero sits at one seat after the other, are one observation."""
    return episode.group


def paired(one: Sequence[Episode], other: Sequence[Episode]) -> Estimate:
    """What one hero was paid above another, over the deals that both played from every seat."""
    first, second = (_of_deals(episodes) for episodes in (one, other))
    shared = sorted(first.keys() & second.keys())
    return clustered(shared, lambda deal: first[deal] - second[deal], lambda deal: deal)


def _of_deals(episodes: Sequence[Episode]) -> dict[str, float]:
    """The mean pay by the number of the deal, which both records have from the same seed."""
    paid_by = defaultdict[str, list[float]](list)
    for episode in episodes:
        paid_by[by_deal(episode).rpartition("/")[2]].append(paid(episode))
    return {deal: sum(pays) / len(pays) for deal, pays in paid_by.items()}


def lines(table: Table) -> Iterator[str]:
    """The table in Markdown."""
    yield "| | games | sum of squares | centres | first, ties included | eliminated |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, row in table.items():
        squares, centres, first, gone = (row[key] for key in ("sum_of_squares", "centers", "first", "eliminated"))
        share = f"{first['mean']:.0%} [{100 * first['low']:.0f}, {100 * first['high']:.0f}]"
        own = f"{squares['mean']:.3f} ± {squares['se'] or 0:.3f}"
        yield f"| {name} | {row['games']} | {own} | {centres['mean']:.2f} | {share} | {gone['mean']:.1%} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the record of an evaluation")
    parser.add_argument("--player", default="", help="part of the hero's name, where the record has several")
    parser.add_argument("--opponent", default="dumbbot", help="part of the others' name")
    parser.add_argument(
        "--less", type=Path, help="another record, whose hero's sum of squares is taken off deal by deal"
    )
    parser.add_argument("--out", type=Path, help="a file for everything, as JSON")
    parser.add_argument("--picture", type=Path, help="a plot of the sum of squares by power, as SVG")
    asked = parser.parse_args()
    found = defaultdict[str, list[Episode]](list)
    years = defaultdict[int, list[tuple[Episode, int]]](list)
    for episode in games(asked.folder, asked.player, asked.opponent):
        found[powers_of(episode)[episode.seat_of(0)]].append(episode)
        for year, count in by_year(episode).items():
            years[year].append((episode, count))
    if not found:
        raise SystemExit("No game of this record has such a hero against six of such a kind.")
    table = {power: told(found[power]) for power in sorted(found)}
    table["all"] = told([episode for some in found.values() for episode in some])
    print(*lines(table), sep="\n")
    if asked.less:
        alone = [episode for some in found.values() for episode in some]
        gap = paired(alone, list(games(asked.less, "", asked.opponent)))
        print(f"\nless that of {asked.less}, deal by deal: {gap.mean:+.3f} ± {gap.se or 0:.3f} over {gap.n} deals")
    owned = {
        year: clustered(rows, lambda row: row[1], lambda row: by_deal(row[0])).to_json()
        for year, rows in sorted(years.items())
    }
    print(
        "\ncentres by year:",
        ", ".join(f"{year} {row['mean']:.2f} ± {row['se'] or 0:.2f}" for year, row in owned.items()),
    )
    if asked.out:
        data = {"made_by": {**provenance(), **source()}, "powers": table, "years": owned}
        asked.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if asked.picture:
        drawn = [dot(name, row["sum_of_squares"]) for name, row in table.items()]
        plot = picture(drawn, "sum of squares by power; a seventh is .143", 0.0, 0.4)
        asked.picture.write_text(plot, encoding="utf-8")


def dot(name: str, row: Mapping[str, Any]) -> Dot:
    """A power's mean with its 95 % interval."""
    half = 1.96 * (row["se"] or 0.0)
    return Dot(name, row["mean"], row["mean"] - half, row["mean"] + half, name == "all")


if __name__ == "__main__":
    main()
