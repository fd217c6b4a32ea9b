"""Record of an audit, read by pyarrow alone, and checks that need no figure: plans, replies, games played again."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from pyarrow import ArrowException

from stratagem.base.errors import BadRecord
from stratagem.games.base import Game
from stratagem.games.key import Key

LARGEST = 1 << 31
"""Largest number of bytes of a table in memory: a file of some kilobytes may hold more than a machine has."""
FAILED = ("timeout", "exit", "malformed", "error")
"""Ends of calls that have no reply."""
Row = dict[str, Any]


class RecordedReply(NamedTuple):
    """Reply to a question: its place among those to it, and the decision that was played."""

    question: int
    place: int
    episode: Row
    row: Row

    @property
    def answered(self) -> bool:
        """False where a server gave no reply."""
        return not is_missing(self.row)


def is_missing(row: Row) -> bool:
    """Return whether a server gave no reply."""
    return bool(row["how"] == "error" and any(call["finish"] in FAILED for call in row["calls"]))


def read_episodes(folder: Path, shard: str = "*.parquet") -> list[Row]:
    """Read the episodes of a record, or of one shard, with their decisions, and these with their calls."""
    calls = defaultdict(list)
    timings = {_key(row): row for row in _table(folder, "timings", shard)}
    for row in _table(folder, "calls", shard):
        timing = timings.get(_key(row), {})
        calls[_key(row)[:-1]].append({**row, "ms": timing.get("ms", 0.0), "answer_id": timing.get("answer_id") or ""})
    decisions = defaultdict(list)
    for row in _table(folder, "decisions", shard):
        row["calls"] = calls.get(tuple(row[name] for name in ("episode", "turn", "seat", "attempt")), [])
        decisions[row["episode"]].append(row)
    episodes = list(_table(folder, "episodes", shard))
    for episode in episodes:
        episode["decisions"] = decisions.pop(episode["id"], [])
    if decisions:
        raise BadRecord(f"{folder} has decisions of the episode {next(iter(decisions))}, which it lacks.")
    return episodes


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("episode", "turn", "seat", "attempt", "index"))


def _table(folder: Path, name: str, shard: str) -> Iterator[Row]:
    for path in sorted((folder / name).glob(shard)):
        try:
            file = pq.ParquetFile(path, page_checksum_verification=True)
            groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
            if sum(group.total_byte_size for group in groups) > LARGEST:
                raise BadRecord(f"{path} holds more than {LARGEST >> 20} MiB, and is not read.")
            yield from file.read().to_pylist()
        except (OSError, ValueError, ArrowException) as error:
            raise BadRecord(f"{path} cannot be read: {' '.join(str(error).split())[:200]}.") from error


def last_rows(episode: Row) -> list[Row]:
    """Return the decisions that were played: of several attempts at a turn the last."""
    return list({(row["turn"], row["seat"]): row for row in episode["decisions"]}.values())


def replies_of(episodes: list[Row]) -> dict[str, list[RecordedReply]]:
    """Return the replies to questions by the player that was asked."""
    found: dict[str, list[RecordedReply]] = defaultdict(list)
    for episode in episodes:
        match = re.fullmatch(r"(.*/ask/.*)/([0-9]+)/([0-9]+)", episode["id"])
        if episode["purpose"] == "probe" and match:
            own = [row for row in episode["decisions"] if row["slot"] == 0]
            if not own:
                raise BadRecord(f"The question {episode['id']} has no decision.")
            player = episode["players"][own[-1]["seat"]].rpartition("@")[0]
            found[player].append(RecordedReply(int(match[2]), int(match[3]), episode, own[-1]))
    return {player: sorted(some, key=lambda one: one[:2]) for player, some in found.items()}


def faults_of_replies(replies: list[RecordedReply]) -> Iterator[str]:
    """Yield a sentence for each question that lacks a reply between others, or has one twice."""
    places: dict[int, list[int]] = defaultdict(list)
    for one in replies:
        places[one.question].append(one.place)
    for question in range(max(places, default=-1) + 1):
        if places[question] != list(range(max(1, len(places[question])))):
            yield f"A reply to question {question} is missing, or is there twice."


def faults_of_keys(replies: list[RecordedReply], key: Key) -> Iterator[str]:
    """Yield a sentence where a question was drawn by another seed than the card's."""
    for one in replies:
        if one.episode["key"] != key.at("ask", one.question, one.place).value:
            yield f"The question {one.episode['id']} was not drawn by the seed of the card."
            return


def faults_of_bout(game: str, bout: list[Row], keys: Sequence[Key], agent: str, first: bool) -> Iterator[str]:
    """Yield a sentence where the games of a bout are others than those that the seed, the agent and the seats ask for.

    The agent is the first of its players, or with `first` false each of the others.
    """
    played = defaultdict[int, set[int]](set)
    for one in bout:
        match, slots, seats = (
            re.fullmatch(r".*/([0-9]+)\.([0-9]+)", one["id"], re.DOTALL),
            one["slots"],
            len(one["slots"]),
        )
        if not match or slots != [(seat - int(match[2])) % seats for seat in range(seats)]:
            yield f"The seats of {one['id']} are not those of its turn."
            return
        names = [player.rpartition("@")[0] for player in one["players"]]
        if any(name != agent for name, slot in zip(names, slots, strict=True) if (slot == 0) == first):
            yield f"{one['id']} was not played by the agent of the card."
            return
        group, _, deal = one["group"].rpartition("/")
        opponent = group.removeprefix(f"{game}/{names[slots.index(0)]}/")
        drawn = [key.at("bout", game, opponent).at("deal", int(match[1])) for key in keys]
        if deal != match[1] or not any(
            (one["key"], one["chance"]) == (key.value, key.at("chance").value) for key in drawn
        ):
            yield f"The deal of {one['id']} was not drawn by the seed of the card."
            return
        played[int(match[1])].add(int(match[2]))
    seats = len(bout[0]["slots"])
    if any(played.get(deal) != set(range(seats)) for deal in range(len(played))) or len(bout) != seats * len(played):
        yield f"A game of {bout[0]['group'].rpartition('/')[0]} is missing, or is there twice."


def faults_of_play(game: Game[Any], episode: Row) -> Iterator[str]:
    """Play an episode again by the rules; yield a sentence where its payoffs or situations are other ones."""
    state, rows = game.start(Key(episode["chance"])), defaultdict[int, dict[int, Row]](dict)
    for row in episode["decisions"]:
        rows[row["turn"]][row["seat"]] = row  # of several attempts the last
    paid, turn = [0.0] * game.spec.seats, 0
    while not state.over:
        moves: dict[int, str | None] = {}
        for seat in state.to_act:
            view, known = state.view(seat), rows[turn].get(seat)
            if known is None or known["info_key"] != view.info_key:
                yield f"In {episode['id']} turn {turn} lacks a decision of seat {seat}, or shows another situation."
                return
            if known["action"] is not None and known["action"] not in view.choices:
                yield f"In {episode['id']} the action {known['action'][:60]!r} of turn {turn} is not legal."
                return
            moves[seat] = known["action"]
        result = state.play(moves)
        paid, turn = [a + b for a, b in zip(paid, result.payoffs, strict=True)], turn + 1
    if any(abs(a - b) > 1e-6 for a, b in zip(paid, episode["payoffs"], strict=True)) or max(rows, default=-1) >= turn:
        yield f"The payoffs of {episode['id']} do not follow from its decisions."


def illegal_actions(
    game: Game[Any], replies: list[RecordedReply], legal: Mapping[int, tuple[str | None, ...]]
) -> Iterator[str]:
    """Yield a sentence for each reply that is no action of its situation, and for illegal ones that have an action."""
    for one in replies:
        action, bad = one.row["action"], one.row["how"] in ("illegal", "error")
        if (action is None) != bad or (action is not None and action not in legal[one.question]):
            said = json.dumps(action)
            yield f"The reply in {one.episode['id']} is recorded as {one.row['how']} with the action {said}."
