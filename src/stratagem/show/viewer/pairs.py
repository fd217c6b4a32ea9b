"""Paired deals: two players, such as checkpoints of a run, on the same deals, and where their play and prompts part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.games.base import Json
from stratagem.measure.statistics import with_interval
from stratagem.playing.records import Decision, Episode
from stratagem.playing.store import read_columns, shards
from stratagem.show.viewer.episode_index import stamp
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.listing import LONGEST_PAGE
from stratagem.show.viewer.parameters import number, require_parameter
from stratagem.show.viewer.replays import load_episode
from stratagem.show.viewer.runs import finite

_COLUMNS = ("id", "game", "players", "chance", "payoffs", "rounds", "finished", "purpose")
_PAGE, _LINES = 50, 2000
_FIELDS = {"delete": ("first",), "insert": ("second",), "replace": ("first", "second")}
"""Sides of a difference between two texts."""


class SeatedPlayer(NamedTuple):
    """A player at a seat of an episode."""

    deal: tuple[str, int, int, tuple[str, ...]]
    """Game, key of chance, seat, and the other players: what is the same in a pair."""
    id: str
    player: str
    payoff: float
    """Payoff a round."""


def pairs(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the deals on which two players of a record sat at the same seat against the same others."""
    sat = list(_seats(library.record(require_parameter(asked, "record"))))
    names = _players_sharing_deals(sat)
    first = asked.get("first") or (names[0] if names else "")
    second = asked.get("second") or next((name for name in names if name != first), "")
    found = _pair_episodes(sat, first, second)
    gains = _by_deal(found)
    mean = with_interval(gains) if gains else None
    offset, limit = number(asked, "offset", 0), max(1, min(number(asked, "limit", _PAGE), LONGEST_PAGE))
    found.sort(key=lambda pair: -abs(pair[1].payoff - pair[0].payoff))
    return {
        "players": names, "first": first, "second": second, "found": len(found), "offset": offset,
        "deals": len(gains),
        "gain": mean and {"mean": finite(mean.mean), "low": finite(mean.low), "high": finite(mean.high)},
        "pairs": [_json(*pair) for pair in found[offset : offset + limit]],
    }  # fmt: skip


def _seats(folder: Path) -> Iterator[SeatedPlayer]:
    for shard in shards(folder):
        yield from _shard(folder, shard, *stamp(folder, shard))


@lru_cache(maxsize=4096)
def _shard(folder: Path, shard: int, modified: int, size: int) -> tuple[SeatedPlayer, ...]:
    rows = read_columns(folder, "episodes", shard, _COLUMNS).to_pylist()
    return tuple(sat for row in rows if row["finished"] and row["purpose"] != "probe" for sat in _seats_of(row))


def _seats_of(row: Json) -> Iterator[SeatedPlayer]:
    players = tuple(row["players"])
    for seat, player in enumerate(players):
        others = players[:seat] + players[seat + 1 :]
        payoff = row["payoffs"][seat] / max(1, len(row["rounds"]))
        yield SeatedPlayer((row["game"], row["chance"], seat, others), row["id"], player, payoff)


def _players_sharing_deals(sat: Sequence[SeatedPlayer]) -> list[str]:
    """Return the players that share deals with another: checkpoints of runs first, then those with the most deals."""
    by_deal: dict[tuple[str, int, int, tuple[str, ...]], set[str]] = {}
    for one in sat:
        by_deal.setdefault(one.deal, set()).add(one.player)
    counts = Counter(player for players in by_deal.values() if len(players) > 1 for player in players)
    return sorted(counts, key=lambda name: (not name.startswith("run:"), -counts[name], name))


def _pair_episodes(sat: Sequence[SeatedPlayer], first: str, second: str) -> list[tuple[SeatedPlayer, SeatedPlayer]]:
    """Match the episodes of two players deal by deal; the first episode of a deal counts."""
    if first == second:
        return []
    own: dict[object, SeatedPlayer] = {}
    for one in sat:
        if one.player == first:
            own.setdefault(one.deal, one)
    other: dict[object, SeatedPlayer] = {}
    for one in sat:
        if one.player == second and one.deal in own:
            other.setdefault(one.deal, one)
    return [(own[deal], one) for deal, one in other.items()]


def _by_deal(found: Sequence[tuple[SeatedPlayer, SeatedPlayer]]) -> list[float]:
    """Return the mean gain of the second player of each draw of chance, which is one observation."""
    gains: dict[object, list[float]] = {}
    for first, second in found:
        gains.setdefault(first.deal[:2], []).append(second.payoff - first.payoff)
    return [sum(values) / len(values) for values in gains.values()]


def _json(first: SeatedPlayer, second: SeatedPlayer) -> Json:
    game, _, seat, others = first.deal
    return {
        "game": game, "seat": seat, "others": list(others), "first": first.id, "second": second.id,
        "payoffs": [first.payoff, second.payoff],
    }  # fmt: skip


def pair(library: Library, asked: Mapping[str, str]) -> Json:
    """Return two episodes turn by turn, and the difference of the prompts at the first turn that differs."""
    folder, seat = library.record(require_parameter(asked, "record")), number(asked, "seat", 0)
    episodes = [load_episode(folder, require_parameter(asked, name)) for name in ("first", "second")]
    if any(seat >= len(episode.players) for episode in episodes):
        raise BadParameter(f"Seat {seat} is none of these episodes.")
    turns = _turns(*episodes)
    parted = next((turn for turn in turns if turn["actions"][0] != turn["actions"][1]), None)
    return {
        "players": [episode.players[seat] for episode in episodes],
        "turns": turns,
        "parted": parted and parted["turn"],
        "prompt": _prompts(_own(episodes[0], seat), _own(episodes[1], seat), parted["turn"] if parted else -1),
    }


def _turns(first: Episode, second: Episode) -> list[Json]:
    """Return the actions of both episodes by turn and seat."""
    played = [{(row.turn, row.seat): _action(row) for row in episode.decisions} for episode in (first, second)]
    keys = sorted(played[0].keys() | played[1].keys())
    return [{"turn": turn, "seat": seat, "actions": [one.get((turn, seat)) for one in played]} for turn, seat in keys]


def _action(row: Decision) -> str:
    return row.action if row.action is not None else f"{row.how}: {row.said or 'no reply'}"


def _own(episode: Episode, seat: int) -> list[Decision]:
    return [row for row in episode.decisions if row.seat == seat and row.calls]


def _prompts(first: Sequence[Decision], second: Sequence[Decision], parted: int) -> Json | None:
    """Return the first prompts of a seat that differ, else those where play parts; None where no model was asked."""
    both = list(zip(first, second, strict=False))
    if not both:
        return None
    there = next((rows for rows in both if rows[0].turn == rows[1].turn == parted), both[0])
    mine, theirs = next((rows for rows in both if _prompt(rows[0]) != _prompt(rows[1])), there)
    one, other = _prompt(mine), _prompt(theirs)
    replies = [mine.calls[0].text, theirs.calls[0].text]
    return {"turn": mine.turn, "same": one == other, "lines": difference(one, other), "replies": replies}


def _prompt(row: Decision) -> str:
    return "\n".join(f"[{role}]\n{content}" for role, content in row.calls[0].prompt.messages)


def difference(first: str, second: str) -> list[Json]:
    """Return the lines of two texts in order, each with the texts that have it: both, the first or the second."""
    own, other = first.split("\n")[:_LINES], second.split("\n")[:_LINES]
    lines: list[Json] = []
    for kind, start, end, begin, stop in SequenceMatcher(None, own, other, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [{"in": "both", "text": line} for line in own[start:end]]
        sides = {"first": own[start:end], "second": other[begin:stop]}
        lines += [{"in": side, "text": line} for side in _FIELDS.get(kind, ()) for line in sides[side]]
    return lines
