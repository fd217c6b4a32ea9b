"""Populations: cross-play of the records, the leagues and the tournaments of a folder, as matrices with ratings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stratagem.base.errors import BadParameter, StratagemError, UnknownName
from stratagem.base.files import read_small
from stratagem.games.base import Json
from stratagem.games.bounded import make_bounded_game
from stratagem.show.reports.files import LeagueTable, TournamentSchema
from stratagem.show.reports.metric_reading import game_unit
from stratagem.show.reports.run_data import RunData
from stratagem.show.viewer.crossplay import cross_play, games_of
from stratagem.show.viewer.episode_index import episodes_of
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.meta_game import LineageMember, member_of, meta_game
from stratagem.show.viewer.parameters import require_parameter
from stratagem.show.viewer.runs import finite

_LARGEST = 4_000_000
"""Largest size of a file of a tournament in bytes."""
_MARK = b'"mean_against_others"'


def populations(library: Library, asked: Mapping[str, str]) -> Json:
    """Return all populations of a folder: what each is, its game, and its number of players."""
    return {"populations": [*_leagues(library), *_tournaments(library), *_records(library)]}


def _leagues(library: Library) -> Iterator[Json]:
    for name, run in library.runs.items():
        league = RunData(run).league if (run.path / "league.json").is_file() else None
        if league is not None and league.members:
            yield _row("league", name, league.game, len(league.members))


def _tournaments(library: Library) -> Iterator[Json]:
    for name, path in tournament_files(library.root).items():
        if (found := _tournament(path, *_stamp(path))) is not None:
            yield _row("tournament", name, found.game, len(found.players))


def _records(library: Library) -> Iterator[Json]:
    for name, folder in library.records.items():
        try:
            games = games_of(folder)
        except StratagemError:
            continue
        for game, played in games.items():
            players = {one for row in played for one in (row.first, row.second)}
            if len(players) > 1:
                yield _row("record", name, game, len(players))


def _row(kind: str, name: str, game: str, players: int) -> Json:
    return {"kind": kind, "name": name, "game": game, "players": players}


def population(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the matrix of one population, and the record in which the games of a cell can be seen."""
    kind, name = require_parameter(asked, "kind"), require_parameter(asked, "name")
    if kind not in _KINDS:
        raise UnknownName("kind of population", kind, _KINDS)
    found = _KINDS[kind](library, name, asked.get("game", ""))
    members = found.pop("members", None) or [member_of(name) for name in found["players"]]
    return {"kind": kind, "name": name, **found, **meta_game(found["payoff"], members)}


def _record(library: Library, name: str, game: str) -> Json:
    games = games_of(library.record(name))
    if game not in games:
        raise UnknownName("game of this record", game, games)
    found = cross_play(games[game], _unit(game))
    names = found["players"]
    met = [
        [name if found["payoff"][row][column] else None for column in range(len(names))] for row in range(len(names))
    ]
    return {"game": game, **found, "recorded": names, "met": met, "null": _null(game)}


def _league(library: Library, name: str, game: str) -> Json:
    run = library.run(name)
    league = RunData(run).league
    if league is None:
        raise BadParameter(f"{name} has no final evaluation of a league.")
    members = [member.name for member in league.members]
    record = next((known for known, path in library.records.items() if path == run.record), None)
    return {
        "game": league.game,
        "players": members,
        "payoff": [
            [_estimate(pay, _at(league, row, column), league.deals) for column, pay in enumerate(line)]
            for row, line in enumerate(league.payoff)
        ],
        "ratings": [rating.model_dump() for rating in league.elo],
        "alpha_rank": league.alpha_rank,
        "members": [LineageMember(one.parent, one.step, one.role) for one in league.members],
        "unit": game_unit(RunData(run), league.game),
        "left_out": 0,
        "null": 0.0 if league.zero_sum else None,
        **_meetings(library, [record] if record else [], members),
    }


def _at(league: LeagueTable, row: int, column: int) -> float | None:
    return league.errors[row][column] if row < len(league.errors) and column < len(league.errors[row]) else None


def _played_tournament(library: Library, name: str, game: str) -> Json:
    files = tournament_files(library.root)
    if name not in files:
        raise UnknownName("tournament", name, files)
    found = _tournament(files[name], *_stamp(files[name]))
    if found is None:
        raise BadParameter(f"{name} holds no tournament.")
    order = sorted(range(len(found.players)), key=lambda at: -(found.mean_against_others[at].mean or 0.0))
    names = [found.players[at] for at in order]
    return {
        "game": found.game,
        "players": names,
        "payoff": [[found.payoff[row][column].to_json() for column in order] for row in order],
        "means": [found.mean_against_others[at].to_json() for at in order],
        "ratings": [],
        "unit": found.unit,
        "left_out": 0,
        "null": _null(found.game),
        **_meetings(library, list(library.records), names),
    }


def _meetings(library: Library, records: list[str], names: list[str]) -> Json:
    """Return for each pair the record that has games of it, and the names of the players there."""
    pairs: dict[tuple[str, str], str] = {}
    known: dict[str, str] = {}
    for record in records:
        try:
            lineups = episodes_of(library.records[record]).lineups()
        except StratagemError:
            continue
        for players in lineups:
            plain = [player.rpartition("@")[0] or player for player in players]
            known.update(zip(plain, players, strict=True))
            for first in plain:
                for second in plain if plain.count(first) > 1 else [one for one in plain if one != first]:
                    pairs.setdefault((first, second), record)
    met = [[pairs.get((row, column)) for column in names] for row in names]
    return {"recorded": [known.get(name, name) for name in names], "met": met}


def _estimate(mean: float, se: float | None, n: int) -> Json:
    return {"mean": finite(mean), "se": finite(se), "n": n, "exact": not se}


def _unit(game: str) -> str:
    try:
        return make_bounded_game(game).spec.unit
    except StratagemError:
        return "points a round"


def _null(game: str) -> float | None:
    """Return the payoff among equal players: 0 in a zero-sum game, and unknown in any other."""
    try:
        return 0.0 if make_bounded_game(game).spec.utility == "zero-sum" else None
    except StratagemError:
        return None


def tournament_files(root: Path) -> dict[str, Path]:
    """Return the files in a folder, and in those in it, that `stratagem tournament --out` may have written."""
    folders = [root, *(Path(entry.path) for entry in _entries(root) if entry.is_dir(follow_symlinks=False))]
    files = [Path(entry.path) for folder in folders for entry in _entries(folder) if _may_be(entry)]
    return {path.relative_to(root).as_posix(): path for path in files if _is_tournament(path, *_stamp(path))}


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _may_be(entry: os.DirEntry[str]) -> bool:
    return (
        entry.name.endswith(".json")
        and entry.is_file(follow_symlinks=False)
        and entry.stat(follow_symlinks=False).st_size <= _LARGEST
    )


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=1024)
def _is_tournament(path: Path, modified: int, size: int) -> bool:
    try:
        return _MARK in path.read_bytes()
    except OSError:
        return False


@lru_cache(maxsize=64)
def _tournament(path: Path, modified: int, size: int) -> TournamentSchema | None:
    """Read a tournament; None where a file holds none, or a matrix whose size is not the number of players."""
    try:
        found = TournamentSchema.model_validate(json.loads(read_small(path)))
    except (OSError, ValueError, RecursionError, ValidationError):
        return None
    size = len(found.players)
    whole = len(found.payoff) == len(found.mean_against_others) == size and all(
        len(row) == size for row in found.payoff
    )
    return found if whole and size else None


_KINDS: Mapping[str, Callable[[Library, str, str], dict[str, Any]]] = {
    "league": _league,
    "tournament": _played_tournament,
    "record": _record,
}
