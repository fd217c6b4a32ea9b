"""Figures of any record: of an evaluation, also of one that was broken off, of a tournament, or of matches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stratagem.errors import BadRecord
from stratagem.evaluation.bouts import Bout, Table
from stratagem.evaluation.evaluate import CHANCE, GameResult, differences, row_of
from stratagem.evaluation.kept import read_plan
from stratagem.evaluation.suites import Line, Suite, find_suite, with_metrics
from stratagem.games.base import Game
from stratagem.games.catalogue import describe, make_game
from stratagem.games.key import Key
from stratagem.play.records import Episode

WHY = "figures from a record are sampled"
Pair = tuple[str, str]
"""Hero and opponents, with their versions."""


@dataclass(frozen=True)
class Reading:
    """How a record is read."""

    suite: Suite | None = None
    """What was asked for; without one everybody whom a hero met is an opponent."""
    crossed: bool = False
    """Whether it is of a tournament, in which everybody is a hero."""
    seats: bool = False
    """Whether figures are also told seat by seat."""
    metrics: tuple[str, ...] = ()
    """Further metrics."""
    seed: int = 0


def reading_of(folder: Path, metrics: Sequence[str] = (), *, seats: bool = False, seed: int = 0) -> Reading:
    """How the record in a folder is to be read, by what was asked for when it was made."""
    plan = read_plan(folder) or {}
    asked, against = plan.get("suite"), plan.get("opponents")
    told = isinstance(asked, str) and isinstance(against, list) and all(isinstance(name, str) for name in against)
    suite = find_suite(str(asked), tuple(against or ())) if told else None
    return Reading(suite, plan.get("command") == "tournament", seats, tuple(metrics), seed)


def recorded(episodes: Iterable[Episode], reading: Reading) -> list[GameResult]:
    """The figures of recorded episodes, game by game; a hero is who was named first in a match."""
    games: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.finished:
            games.setdefault(episode.game, []).append(episode)
    found = [_game(text, rows, reading) for text, rows in games.items()]
    return [result for result in found if result.rows]


def _game(text: str, episodes: list[Episode], reading: Reading) -> GameResult:
    game = make_game(text)
    versions = {episode.game_version for episode in episodes}
    if versions != {game.spec.version}:
        told = ", ".join(map(str, sorted(versions)))
        now = game.spec.version
        raise BadRecord(f"{text} was recorded with version {told} of its rules, and they are at {now} now.")
    suite = with_metrics(reading.suite or find_suite(text, (CHANCE,)), reading.metrics)
    line = next((one for one in suite.lines if describe(make_game(one.game)) == text), Line(text, {}))
    rows = [
        row_of(game, hero, bouts, suite.metrics, (None, WHY), seats=reading.seats)
        for hero, bouts in _by_hero(game, line, _pairs(episodes, crossed=reading.crossed), reading).items()
    ]
    rows.sort(key=lambda row: row.player == CHANCE)
    warnings = tuple(f"{row.player}: {error}" for row in rows for error in row.errors)
    return GameResult(game, line.game, tuple(rows), differences(rows, Table(key=Key(reading.seed))), warnings)


def _pairs(episodes: Sequence[Episode], *, crossed: bool) -> dict[Pair, list[Episode]]:
    """Episodes by hero and opponents; in a tournament of two seats each of a pair is the hero once."""
    found: dict[Pair, list[Episode]] = {}
    for episode in episodes:
        found.setdefault(_pair(episode), []).append(episode)
    for (hero, other), played in list(found.items()) if crossed else ():
        if hero != other and (other, hero) not in found and all(len(one.slots) == 2 for one in played):
            found[other, hero] = list(map(_crossed, played))
    return found


def _crossed(episode: Episode) -> Episode:
    """The same episode with the other player as the hero."""
    decisions = [replace(row, slot=1 - row.slot) for row in episode.decisions]
    return replace(episode, slots=tuple(1 - slot for slot in episode.slots), decisions=decisions)


def _pair(episode: Episode) -> Pair:
    by_slot = [episode.players[episode.seat_of(slot)] for slot in range(len(episode.slots))]
    others = dict.fromkeys(by_slot[1:])
    return by_slot[0], ", ".join(others)


def _by_hero(game: Game[Any], line: Line, pairs: dict[Pair, list[Episode]], reading: Reading) -> dict[str, list[Bout]]:
    """Who met whom; what a player of a tournament played against itself is no part of its figures."""
    found: dict[str, list[Bout]] = {}
    for (hero, other), episodes in pairs.items():
        if reading.crossed and hero == other:
            continue
        name, _, version = other.rpartition("@")
        bare = {name, name.removeprefix(f"{game.spec.family}/")}
        pools = tuple(pool for pool, names in line.pools.items() if bare & set(names)) if reading.suite else ()
        bout = Bout(name or other, int(version) if version.isdecimal() else 0, pools or ("opponents",), tuple(episodes))
        found.setdefault(hero.rpartition("@")[0] or hero, []).append(bout)
    return found
