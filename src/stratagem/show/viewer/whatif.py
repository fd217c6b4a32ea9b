"""Play on from a turn of a recorded game with a change, beside the same turn as it was played.

Both arms have common keys: branch number k of one draws the same dice for the game and for its players as branch k of
the other. So the difference is paired.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.files import parse_json, read_small, telling, write_file
from stratagem.games.base import Json, Seat
from stratagem.games.key import Key
from stratagem.language.engines.remote.budget import Budget, spending
from stratagem.language.engines.remote.tally import PriceList, use_prices
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.human import at_keyboard
from stratagem.playing.answers import Answers, LoggedQueue
from stratagem.playing.dispatch import Dispatcher
from stratagem.playing.forks import forks
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.playing.schemas import SCHEMAS
from stratagem.playing.store import prepare, record, shards
from stratagem.show.viewer.forced import ForcedPlayer
from stratagem.show.viewer.jobs import JobPrice, Progress
from stratagem.show.viewer.outcomes import outcomes
from stratagem.show.viewer.positions import RecordedTurn, is_absent, maker, read_position
from stratagem.show.viewer.pricing import Price, price_of

FILE = "whatif.json"
"""File beside the record of a fork: the question, its parent, and the result."""
ARMS = ("original", "changed")
UNCHANGED = "Nothing is changed: choose another action, another player or other dice."


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """Question about a turn of a recorded episode."""

    folder: Path
    """Record of the parent."""
    record: str
    """Name of that record in the library."""
    episode: str
    turn: int
    actions: Mapping[Seat, str] = field(default_factory=dict)
    """Other actions at the turn, by seat."""
    players: Mapping[Seat, str] = field(default_factory=dict)
    """Other players from the turn on, by seat; where the recorded one cannot be made, its stand-in in both arms."""
    fresh: bool = False
    """True for other dice of the game after the turn than those of the record."""
    seed: int = 0
    run: Path | None = None
    """Run of the record."""
    count: int = 1
    """Number of branches of each arm."""
    to: Path
    """Folder of the new record."""
    name: str
    """Name of the new record in the library."""
    accepted: int = 0
    """Number of calls of models that the reader has accepted."""
    prices: PriceList = field(default_factory=dict)

    def as_json(self) -> Json:
        """Return the question as the page shows it and a file keeps it."""
        names = ("record", "episode", "turn", "actions", "players", "fresh", "seed", "count")
        return {name: getattr(self, name) for name in names}


def ask_what_if(question: WhatIf, connection: Connection) -> Any:
    """Play both arms and record them, in the process of a job; tell the price first where it was not accepted."""
    if (known := stored_answer(question.to)) is not None:
        return known  # another job has answered it
    position = read_position(question.folder, question.episode, question.turn)
    with use_prices(question.prices):
        seats = _seats(question, position)
        arms = {arm: _match(position, seats, arm) for arm in ARMS}
        certain = _is_certain(question, position, seats)
        count = 1 if certain else question.count
        price = price_of(position, _players(seats), count)
        if price is not None and price.calls > question.accepted:
            return JobPrice(price.to_json())
        branches = _play_branches(question, position, arms, count, price, connection)
    partial = partial_of(question.to)
    result = {
        "record": question.name,
        "question": question.as_json(),
        "players": [[match.names[slot] for slot in position.episode.slots] for match in arms.values()],
        "stand_ins": [seat for seat, seating in enumerate(seats) if seating.is_stand_in],
        "unit": position.state.game.spec.unit,
        "seat_names": list(position.state.game.spec.seat_names),
        "price": None if price is None else price.to_json(),
        **outcomes(branches["original"], branches["changed"], Key(question.seed), certain=certain),
    }
    write_file(partial / FILE, json.dumps(result, indent=1) + "\n")
    with telling(question.to):
        partial.rename(question.to)
    return result


class Seating(NamedTuple):
    """Players of both arms at a seat."""

    original: Player | None
    changed: Player | None
    is_stand_in: bool = False
    """True if the recorded player cannot be made here."""


def _seats(question: WhatIf, position: RecordedTurn) -> list[Seating]:
    """Make the players of both arms by seat; at the turn each plays what was recorded, or the given action."""
    made = [_seating(question, position, seat) for seat in range(len(position.episode.players))]
    others = [seat for seat in question.players if not made[seat].is_stand_in]
    if not (others or question.actions or question.fresh):
        raise BadParameter(UNCHANGED)
    decisions = position.decisions
    for seat in position.state.to_act:
        played = decisions[seat].action if seat in decisions else None
        original, changed, is_stand_in = made[seat]
        if seat not in others or seat in question.actions:
            changed = _force_action(changed, question.turn, question.actions.get(seat, played))
        made[seat] = Seating(_force_action(original, question.turn, played), changed, is_stand_in)
    return made


def _seating(question: WhatIf, position: RecordedTurn, seat: Seat) -> Seating:
    """Make the players of a seat, without what they are to play at the turn."""
    recorded, given = position.episode.players[seat], question.players.get(seat)
    other = None if given is None else make_player(given, position.state.game)
    if at_keyboard(other):
        raise BadParameter("A person cannot play on in a job: sit down at this turn instead.")
    if is_absent(recorded):
        if other is None and seat in question.actions:
            raise BadParameter(f"Nobody sits at seat {seat}: name a player who plays the action and goes on.")
        return Seating(None, other)
    try:
        original = _make_player(question, position, seat)
    except StratagemError:
        if other is None:
            raise
        return Seating(other, other, is_stand_in=True)
    return Seating(original, other or original)


def _make_player(question: WhatIf, position: RecordedTurn, seat: Seat) -> Player:
    """Make a recorded player again, as it was."""
    recorded = position.episode.players[seat]
    name = maker(recorded, question.run)
    try:
        player = make_player(name, position.state.game)
    except StratagemError as error:
        such = f", such as run:{question.run}@last" if question.run else ""
        raise BadParameter(
            f"Seat {seat} was played by {name!r}, which cannot be made here: choose a player for this seat{such}."
        ) from error
    if str(player.traits.version) != recorded.rpartition("@")[2]:
        raise BadParameter(
            f"Seat {seat} was played by {recorded}, and this program has version {player.traits.version} of it: choose "
            "a player for this seat."
        )
    if at_keyboard(player):
        raise BadParameter(f"Seat {seat} was played by a person, who is not here: choose a player for this seat.")
    return player


def _force_action(player: Player | None, turn: int, action: str | None) -> Player | None:
    return None if player is None else ForcedPlayer(player, turn, action)


def _match(position: RecordedTurn, seats: Sequence[Seating], arm: str) -> Match:
    players: list[Player | None] = [None] * len(seats)
    for slot, seating in zip(position.episode.slots, seats, strict=True):
        players[slot] = seating.original if arm == "original" else seating.changed
    return Match(position.state.game, players)


def _players(seats: Sequence[Seating]) -> Iterator[tuple[Seat, Player]]:
    """Yield the players of both arms with their seats."""
    for seat, (original, changed, _) in enumerate(seats):
        yield from ((seat, player) for player in (original, changed) if player is not None)


def _is_certain(question: WhatIf, position: RecordedTurn, seats: Sequence[Seating]) -> bool:
    """Return whether every branch would be the same, so that one tells all."""
    drawn = question.fresh and position.state.game.spec.chance
    traits = [player.traits for _, player in _players(seats)]
    return not drawn and not any(one.stochastic or not one.repeats for one in traits)


def _play_branches(
    question: WhatIf,
    position: RecordedTurn,
    arms: Mapping[str, Match],
    count: int,
    price: Price | None,
    connection: Connection,
) -> dict[str, list[Episode]]:
    """Play and record the branches, after their parents, so that the record can be replayed by itself."""
    setups = {arm: list(_setups(question, position, arm, match, count)) for arm, match in arms.items()}
    known = {setup.id: arm for arm, some in setups.items() for setup in some}
    branches: dict[str, list[Episode]] = {arm: [] for arm in ARMS}
    with ExitStack() as stack:
        folder = begin_record(question.to)
        queue = LoggedQueue(Dispatcher(), Answers(folder))  # a job that is cancelled pays for no reply twice
        if price is not None and price.servers:
            stack.enter_context(spending(Budget(float(price.most_calls), "calls")))
        played = play((setup for some in setups.values() for setup in some), queue)
        for number, episode in enumerate(_record_episodes(folder, position, played)):
            branches[known[episode.id]].append(episode)
            connection.send(Progress(number + 1, len(known)))
    order = {name: place for place, name in enumerate(known)}
    return {arm: sorted(some, key=lambda episode: order[episode.id]) for arm, some in branches.items()}


def _setups(question: WhatIf, position: RecordedTurn, arm: str, match: Match, count: int) -> Iterator[Setup]:
    """Make the branches of an arm; where only the dice differ, the original keeps those of the record."""
    alone = not question.actions and not question.players
    return forks(
        position.episode,
        match,
        count,
        Key(question.seed).at("what if", question.episode, question.turn),
        at=question.turn,
        fresh_chance=question.fresh and not (alone and arm == "original"),
        purpose="eval",
        parents=position.parents,
        name=f"{arm}/{question.episode}+{question.turn}",
    )


def _record_episodes(folder: Path, position: RecordedTurn, played: Iterable[Episode]) -> Iterator[Episode]:
    """Record episodes after those that they were forked from, and pass them on."""
    lineage = [*reversed(position.parents.values()), position.episode]
    assert len(list(record(lineage, folder))) == len(lineage)
    yield from record(played, folder)


def partial_of(to: Path) -> Path:
    """Return the folder of a record in the making, which no library lists."""
    return to.with_name(f".{to.name}")


def begin_record(to: Path) -> Path:
    """Make the folder of a record in the making; of one that was broken off, the paid replies stay."""
    folder = partial_of(to)
    for name in SCHEMAS:
        shutil.rmtree(folder / name, ignore_errors=True)
    prepare(folder)
    return folder


def stored_answer(to: Path) -> Json | None:
    """Return the result of a question that was answered before; None where it was not."""
    try:
        result = parse_json(read_small(to / FILE))
    except (OSError, ValueError):
        return None
    return result if isinstance(result, dict) and shards(to) else None
