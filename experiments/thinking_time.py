"""Strength of search over thinking time a move: `python experiments/thinking_time.py connect-four --out FILE.json`.

A cell is a player against one opponent at all other seats, every deal from every seat. Its time is the processor time
of the player's turns, so other work on the machine does not count. Cells that the file has are not played again;
`--list` prints the cells. `--picture FOLDER` draws the curves of a file and prints its tables.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from result_tables import Row, markdown, write_results

from stratagem.base.provenance import provenance
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.deal_means import mean_of_deals
from stratagem.measure.matchups import Evaluator, payoff_of
from stratagem.measure.statistics import with_interval
from stratagem.players.base import Ask, Player, Turn
from stratagem.players.catalogue import make_player


class Study(NamedTuple):
    """Players of one game with their opponents; the first player has no search."""

    game: str
    players: tuple[tuple[str, str], ...]
    """Each player with the line of the picture that it belongs to; an empty line belongs to all."""
    opponents: tuple[str, ...]
    episodes: int
    unit: str


def _searches(line: str, search: str, draws: Sequence[int]) -> tuple[tuple[str, str], ...]:
    return tuple((search.format(count), line) for count in draws)


STUDIES = {
    "connect-four": Study(
        "connect-four",
        (
            ("random", ""),
            *_searches("all actions", "search(random, num_chance_draws={}, num_edits=6)", (1, 4, 16, 64, 256)),
            *_searches(
                "two actions", "search(random, num_candidates=1, num_chance_draws={}, num_edits=1)", (1, 4, 16, 64)
            ),
        ),
        ("random", "mcts:100"),
        100,
        "points a game: 1 for a win, -1 for a loss",
    ),
    "leduc": Study(
        "leduc",
        (
            ("random", ""),
            *_searches("opponents=random", "search(random, num_chance_draws={}, num_edits=2)", (1, 4, 16, 64, 256)),
            *_searches(
                "opponents=cfr:100",
                "search(random, num_chance_draws={}, num_edits=2, opponents=cfr:100, rollout_player=cfr:100)",
                (1, 4, 16, 64, 256),
            ),
        ),
        ("random", "cfr:100"),
        600,
        "chips a hand",
    ),
    "diplomacy": Study(
        "diplomacy(until=1901)",
        (
            ("dumbbot", ""),
            *(
                (f"search(dumbbot, num_candidates={candidates}, num_edits={edits}, num_chance_draws={draws})", line)
                for line, edits, candidates, draws in (
                    ("proposals", 0, 4, 1),
                    ("proposals and edits", 4, 4, 1),
                    ("proposals", 0, 8, 4),
                    ("proposals and edits", 8, 8, 4),
                    ("proposals", 0, 16, 4),
                    ("proposals and edits", 32, 8, 4),
                )
            ),
        ),
        ("dumbbot", "dumbbot-ported-dipnet"),
        42,
        "share of the squares of centres, which is 1/7 for an equal of the others",
    ),
}
"""Studies by name."""


class Timed:
    """Player with the processor time of its turns."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.name, self.traits = player.name, player.traits
        self.seconds, self.turns = 0.0, 0

    def turn(self, ask: Ask) -> Turn:
        begun = time.process_time()
        turn = self.player.turn(ask)
        self.seconds += time.process_time() - begun
        self.turns += 1
        return turn

    def policy(self, view: Any) -> Mapping[str, float]:
        return self.player.policy(view)


def played(study: Study, player: str, line: str, opponent: str, episodes: int, seed: int) -> Row:
    """Play one cell."""
    game = make_game(study.game)
    timed = Timed(make_player(player, game))
    evaluator = Evaluator(episodes, Key(seed).at("thinking time"), exact_budget=0)
    matchup = evaluator.matchup(game, timed, make_player(opponent, game), ())
    by_deal = list(matchup.by_deal(lambda episode: payoff_of(episode, episode.seat_of(0), scaled=False)).values())
    illegal = sum(episode.num_illegal[episode.seat_of(0)] for episode in matchup.episodes)
    return {
        "game": study.game,
        "player": player,
        "line": line,
        "opponent": opponent,
        "seed": seed,
        "episodes": len(matchup.episodes),
        "payoff": with_interval(by_deal).to_json(),
        "seconds_per_move": timed.seconds / timed.turns,
        "moves": timed.turns,
        "illegal": illegal,
        "made_by": provenance(),
    }


def cells(study: Study) -> Iterator[tuple[str, str, str]]:
    """Yield player, line and opponent of each cell: against the first opponent first, cheap ones first."""
    yield from ((player, line, opponent) for opponent in study.opponents for player, line in study.players)


def read(out: Path) -> list[Row]:
    """Return the cells of a file."""
    rows: list[Row] = json.loads(out.read_text("utf-8"))["cells"] if out.is_file() else []
    return rows


def add(study: Study, out: Path, episodes: int, seed: int) -> None:
    """Play the cells that the file lacks."""
    rows = read(out)
    known = {(row["game"], row["player"], row["opponent"], row["seed"]) for row in rows}
    for player, line, opponent in cells(study):
        if (study.game, player, opponent, seed) not in known:
            rows.append(row := played(study, player, line, opponent, episodes, seed))
            write_results(out, {"cells": rows})
            print(_told(row), flush=True)


def _told(row: Row) -> str:
    return f"{row['game']} {row['player']} against {row['opponent']}: {format_interval(row)}, {_time(row)} a move"


def format_interval(row: Row) -> str:
    """Write the mean payoff with its error or interval."""
    (low, high), mean = ends(row), row["payoff"]["mean"]
    return f"{mean:.3f} ± {(high - low) / 2:.3f}" if row["payoff"]["se"] else f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def ends(row: Row) -> tuple[float, float]:
    """Return the 95 % interval of a payoff, also where all deals are equal, and Student's has no width."""
    payoff = row["payoff"]
    if payoff["se"]:
        return payoff["low"], payoff["high"]
    lowest, highest = make_game(row["game"]).spec.bounds
    reach = max(-lowest, highest)
    alike = mean_of_deals([payoff["mean"]] * payoff["n"], -reach, reach)
    low, high = (payoff["mean"] if end is None else end for end in (alike.low, alike.high))
    return max(low, lowest), min(high, highest)


def _time(row: Row) -> str:
    seconds = row["seconds_per_move"]
    return f"{float(f'{seconds * 1000:.2g}'):g} ms" if seconds < 1.0 else f"{seconds:.2g} s"


def table(rows: Sequence[Row]) -> str:
    """Format the cells of one game: a row a player, a column an opponent."""
    opponents = list(dict.fromkeys(row["opponent"] for row in rows))
    by_player: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_player.setdefault(row["player"], {})[row["opponent"]] = row
    body = (
        [
            f"`{name}`",
            _time(next(iter(own.values()))),
            *(format_interval(own[one]) if one in own else "not run" for one in opponents),
        ]
        for name, own in by_player.items()
    )
    return markdown(["player", "time a move", *(f"against `{one}`" for one in opponents)], body)


COLOURS = ("#1f5fbf", "#c2571a", "#2a8a4a", "#7a3fb0", "#b08a1f", "#1f8fa8")
WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM, TOP = 820, 330, 60, 260, 44, 34


class _Plane:
    """Axes of a picture: time a move across, on a log scale, and payoff upwards."""

    def __init__(self, rows: Sequence[Row]) -> None:
        times = [math.log10(row["seconds_per_move"]) for row in rows if row["line"]]
        values = [end for row in rows for end in ends(row)]
        self.first, self.last = math.floor(min(times)), math.ceil(max(times))
        self.low, self.high = min(values), max(values)

    def across(self, seconds: float) -> float:
        share = (math.log10(seconds) - self.first) / max(1, self.last - self.first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def axes(self) -> Iterator[str]:
        """Yield the lines and the numbers."""
        for tick in range(5):
            value = self.low + (self.high - self.low) * tick / 4
            yield self.level(value, "#e3e5e8")
            yield f'<text x="{LEFT - 8}" y="{self.up(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>'
        for power in range(self.first, self.last + 1):
            name = f"{10**power:g} s" if power >= 0 else f"{10 ** (power + 3):g} ms"
            yield f'<text x="{self.across(10.0**power):.1f}" y="{HEIGHT - 20}" text-anchor="middle">{name}</text>'

    def level(self, value: float, colour: str, dash: str = "") -> str:
        y = self.up(value)
        return f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}"{dash}/>'

    def curve(self, rows: Sequence[Row], colour: str) -> Iterator[str]:
        """Yield the line through some cells, and their intervals."""
        own = sorted(rows, key=lambda row: float(row["seconds_per_move"]))
        places = [(self.across(row["seconds_per_move"]), row) for row in own]
        points = " ".join(f"{x:.1f},{self.up(row['payoff']['mean']):.1f}" for x, row in places)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
        for x, row in places:
            low, high = map(self.up, ends(row))
            yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{colour}"/>'


def picture(rows: Sequence[Row]) -> str:
    """Draw a curve for each line and opponent; dotted the player without search."""
    plane = _Plane(rows)
    without = {row["opponent"]: row["payoff"]["mean"] for row in rows if not row["line"]}
    curves = list(dict.fromkeys((row["line"], row["opponent"]) for row in rows if row["line"]))
    title = escape(f"{rows[0]['game']}: payoff over time a move, with 95 % intervals")
    body = [f'<text x="{LEFT}" y="18" font-weight="bold">{title}</text>', *plane.axes()]
    for number, curve in enumerate([*curves, ("dotted: without search", "")]):
        line, opponent = curve
        colour = COLOURS[number % len(COLOURS)] if opponent else "#57606a"
        body += plane.curve([row for row in rows if (row["line"], row["opponent"]) == curve], colour)
        if opponent in without:
            body.append(plane.level(without[opponent], colour, ' stroke-dasharray="2 4"'))
        name = escape(f"{line}, against {opponent}" if opponent else line)
        body.append(f'<text x="{WIDTH - RIGHT + 12}" y="{60 + 20 * number}" fill="{colour}">{name}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
    return head + 'font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>' + "".join(body) + "</svg>\n"


def show(out: Path, folder: Path) -> None:
    """Draw the curves of a file, one picture a game, and print the tables."""
    rows = read(out)
    for name, study in STUDIES.items():
        if own := [row for row in rows if row["game"] == study.game]:
            (folder / f"search-{name}.svg").write_text(picture(own), encoding="utf-8")
            print(f"{name}, {study.unit}\n\n{table(own)}\n")


def main() -> None:
    """Play the cells of some games, or show a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", help=f"among {', '.join(STUDIES)}")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file")
    parser.add_argument("--episodes", type=int, default=0, help="episodes of a cell, in place of those of the study")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print the cells and play nothing")
    parser.add_argument("--picture", type=Path, help="folder for the pictures")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.studies if name not in STUDIES]:
        parser.error(f"there is no study {unknown[0]!r}: studies are {', '.join(STUDIES)}")
    for study in (STUDIES[name] for name in arguments.studies):
        if arguments.list:
            print(*(f"{study.game}: {player} against {opponent}" for player, _, opponent in cells(study)), sep="\n")
        else:
            add(study, arguments.out, arguments.episodes or study.episodes, arguments.seed)
    if arguments.picture:
        show(arguments.out, arguments.picture)


if __name__ == "__main__":
    main()
