"""Figures of any record: of an evaluation, finished or not, of a tournament, or of matches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.named_files import bind_file, descriptions_in, files_in
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.measure.evaluate import CHANCE, GameResult, differences, row_of
from stratagem.measure.exploitability.measurement import missing
from stratagem.measure.matchups import Evaluator, Matchup, swapped_slots
from stratagem.measure.memorisation import OtherWords
from stratagem.measure.resumable import read_plan
from stratagem.measure.suites import Suite, SuiteLine, find_suite, with_metrics
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player, name_of_player
from stratagem.playing.records import Episode

WHY = missing({"exact": "figures from a record are sampled"})
"""Exploitability of a record: none."""
_DISGUISED = re.compile(r"""disguise\((.*), (?:seed=\d+|file=(?:'(?:[^'\\]|\\.)*'|"[^"]*"))\)""")
"""Name of a player under a disguise."""
Pair = tuple[str, str]
"""Agent and opponents, with their versions."""


@dataclass(frozen=True)
class RecordReading:
    """Settings for reading a record."""

    suite: Suite | None = None
    """Suite of the evaluation; without one every opponent that an agent met counts."""
    crossed: bool = False
    """True for a tournament, in which everybody is an agent."""
    seats: bool = False
    """True to report figures seat by seat too."""
    metrics: tuple[str, ...] = ()
    """Further metrics."""
    seed: int = 0
    chance_last: bool = True
    """False for an evaluation in which random play was asked for, and has a place among the players."""
    disguised: bool = False
    """True for an evaluation with disguises, whose agents in other words are parts of the plain agents' rows."""


def reading_of(folder: Path, metrics: Sequence[str] = (), *, seats: bool = False, seed: int = 0) -> RecordReading:
    """Return the settings for the record in a folder, from the settings of its evaluation."""
    plan = read_plan(folder) or {}
    _find_files(plan)
    asked, against = plan.get("suite"), plan.get("opponents")
    known = isinstance(asked, str) and isinstance(against, list) and all(isinstance(name, str) for name in against)
    suite = find_suite(str(asked), tuple(against or ())) if known else None
    crossed, disguised = plan.get("command") == "tournament", bool(plan.get("disguise"))
    return RecordReading(
        suite, crossed, seats, tuple(metrics), seed, CHANCE not in _as_list(plan.get("players")), disguised
    )


def _find_files(plan: Mapping[str, Any]) -> None:
    """Look for the files of an evaluation where its command named them; episodes name them without their folders."""
    texts = [plan.get("suite"), *_as_list(plan.get("players")), *_as_list(plan.get("opponents"))]
    named = [text for text in texts if isinstance(text, str)]
    for file in (*files_in(named), *descriptions_in(named)):
        bind_file(Path(file).name, Path.cwd() / file)


def _as_list(value: object) -> list[object]:
    """Return a list of a plan, which anybody may have written; empty where it is none."""
    return value if isinstance(value, list) else []


def figures_of_record(episodes: Iterable[Episode], reading: RecordReading) -> list[GameResult]:
    """Compute the figures of recorded episodes, game by game; the agent is the first player of a match.

    Probes, such as replies that were asked for in single situations, are no part of them.
    """
    games: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.finished and episode.purpose != "probe":
            games.setdefault(episode.game, []).append(episode)
    by_agent = [_game(text, rows, reading) for text, rows in games.items()]
    return [result for result in by_agent if result.rows]


def _game(text: str, episodes: list[Episode], reading: RecordReading) -> GameResult:
    game = make_bounded_game(text)
    versions = {episode.game_version for episode in episodes}
    if versions != {game.spec.version}:
        known_versions = ", ".join(map(str, sorted(versions)))
        now = game.spec.version
        raise BadRecord(f"{text} was recorded with version {known_versions} of its rules, and they are at {now} now.")
    suite = with_metrics(reading.suite or find_suite(text, (CHANCE,)), reading.metrics)
    suite = with_metrics(suite, ("memorisation_gap",)) if reading.disguised else suite
    line = next(
        (line_of for line_of in suite.lines if describe(make_bounded_game(line_of.game)) == text), SuiteLine(text, {})
    )
    by_agent = _by_agent(game, line, _pairs(episodes, crossed=reading.crossed), reading)
    others = _others(by_agent) if reading.disguised else {}
    rows = [
        row_of(game, agent, matchups, suite.metrics, WHY, seats=reading.seats, others=others.get(agent, ()))
        for agent, matchups in by_agent.items()
        if plain_name(agent) not in others or agent in others
    ]
    rows.sort(key=lambda row: reading.chance_last and row.player == CHANCE)
    warnings = tuple(f"{row.player}: {error}" for row in rows for error in row.errors)
    return GameResult(game, line.text, tuple(rows), differences(rows, Evaluator(key=Key(reading.seed))), warnings)


def plain_name(player: str) -> str:
    """Return the name of a player without its disguise."""
    return _DISGUISED.sub(r"\1", player)


def _others(by_agent: Mapping[str, Sequence[Matchup]]) -> dict[str, list[OtherWords]]:
    """Return the matchups of the disguises of each agent that also played in plain words."""
    others: dict[str, list[OtherWords]] = {}
    for name, matchups in by_agent.items():
        if (plain := plain_name(name)) != name and plain in by_agent:
            others.setdefault(plain, []).append(OtherWords(name, tuple(matchups)))
    return others


def _pairs(episodes: Sequence[Episode], *, crossed: bool) -> dict[Pair, list[Episode]]:
    """Group episodes by agent and opponents; in a tournament of two seats each of a pair is the agent once."""
    by_agent: dict[Pair, list[Episode]] = {}
    for episode in map(_on_its_deal, episodes) if crossed else episodes:
        by_agent.setdefault(_pair(episode), []).append(episode)
    for (agent, other), played in list(by_agent.items()) if crossed else ():
        if agent != other and (other, agent) not in by_agent and all(len(line_of.slots) == 2 for line_of in played):
            by_agent[other, agent] = list(map(swapped_slots, played))
    return by_agent


def _on_its_deal(episode: Episode) -> Episode:
    """Return the same episode as one of its deal: pairs with one second player have the same deals."""
    return replace(episode, group=f"{episode.key}/{episode.group.rpartition('/')[2]}")


def _pair(episode: Episode) -> Pair:
    by_slot = [episode.players[episode.seat_of(slot)] for slot in range(len(episode.slots))]
    others = dict.fromkeys(by_slot[1:])
    return by_slot[0], ", ".join(others)


def _by_agent(
    game: Game[Any], line: SuiteLine, pairs: dict[Pair, list[Episode]], reading: RecordReading
) -> dict[str, list[Matchup]]:
    """Group matchups by agent; a player's games against itself in a tournament are no part of its figures."""
    by_agent: dict[str, list[Matchup]] = {}
    by_pool = {pool: _names(names, game) for pool, names in line.pools.items()} if reading.suite else {}
    for (agent, other), episodes in pairs.items():
        if reading.crossed and agent == other:
            continue
        name, _, version = other.rpartition("@")
        bare = {name, name.removeprefix(f"{game.spec.family}/")}
        pools = tuple(pool for pool, names in by_pool.items() if bare & names) if reading.suite else ()
        matchup = Matchup(
            name or other, int(version) if version.isdecimal() else 0, pools or ("opponents",), tuple(episodes)
        )
        by_agent.setdefault(agent.rpartition("@")[0] or agent, []).append(matchup)
    return by_agent


def _names(players: Iterable[str | Player], game: Game[Any]) -> set[str]:
    """Return the names of players, as a suite gives them and as a record does: `Bold` and `mygame.py:Bold`."""
    names = set(map(name_of_player, players))
    for player in players:
        with suppress(StratagemError):  # of a run that is gone, say
            names.add(make_player(player, game).name)
    return names
