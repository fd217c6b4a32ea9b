"""Forks of a recorded game: any turn of any episode is reached again from its record, and played on from there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.games.abilities import clock_of
from stratagem.games.base import Game, Seat, State
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Decision, Episode, Purpose


def steps(
    episode: Episode, parents: Mapping[str, Episode] | None = None, beginning: State[Any] | None = None
) -> Iterator[tuple[State[Any], list[Decision]]]:
    """Yield every turn of a recorded episode: the state before it, and the decisions played there.

    `beginning` is its first state, where that is at hand; it is played on.
    """
    if not episode.decisions and any(episode.num_decisions):
        raise BadRecord(f"Episode {episode.id} was recorded without its decisions, so it cannot be played again.")
    state = beginning or _beginning(episode, parents or {})
    for _, rows in groupby(episode.decisions, key=lambda row: row.turn):
        decisions = list({row.seat: row for row in rows}.values())  # of several attempts, the last was played
        yield state.fork(), decisions
        state.play({row.seat: row.action for row in decisions})
    yield state, []


def replay(episode: Episode, until: int | None = None, parents: Mapping[str, Episode] | None = None) -> State[Any]:
    """Replay an episode up to turn `until`, or to its last state."""
    for state, decisions in steps(episode, parents):
        if not decisions or (until is not None and decisions[0].turn >= until):
            return state
    raise AssertionError("the last step has no decisions")


def last_asked(episode: Episode, seat: Seat) -> int:
    """Return the last turn of an episode at which a seat was asked, or would be now; 0 where it never was."""
    turn = 1 + max((row.turn for row in episode.decisions), default=-1)
    while turn and seat not in replay(episode, turn).to_act:
        turn -= 1
    return turn


def _beginning(episode: Episode, parents: Mapping[str, Episode]) -> State[Any]:
    if not episode.parent:
        return _game(episode).start(Key(episode.chance))
    return replay(parent_of(episode, parents), episode.forked_at, parents).fork(Key(episode.chance))


def parent_of(episode: Episode, parents: Mapping[str, Episode]) -> Episode:
    """Return the episode that this one was forked from."""
    if episode.parent not in parents:
        raise BadRecord(
            f"Episode {episode.id} was forked from {episode.parent}, which is not among the episodes given."
        )
    return parents[episode.parent]


def _game(episode: Episode) -> Game[Any]:
    game = make_bounded_game(episode.game)
    if game.spec.version != episode.game_version:
        raise BadRecord(
            f"Episode {episode.id} was played by version {episode.game_version} of {game.spec.name}, and this program "
            f"has version {game.spec.version}, so it cannot be played again."
        )
    return game


def forks(
    parent: Episode,
    match: Match,
    count: int,
    key: Key,
    *,
    at: int | None = None,
    fresh_chance: bool = False,
    slots: tuple[int, ...] | None = None,
    purpose: Purpose = "train",
    parents: Mapping[str, Episode] | None = None,
    name: str = "",
    horizon: int | None = None,
    alike: Collection[int] = (),
) -> Iterator[Setup]:
    """Make a group of `count` branched rollouts from one turn of a recorded episode; by default from its end.

    Later chance draws of the game are the parent's, or each branch's own. The players' draws are each branch's own,
    except for the slots in `alike`, whose players draw the same in every branch: they act alike as long as they see
    the same. Memories of earlier episodes are the parent's. A second group from the same turn needs a `name` of its
    own. When the game's clock, or its turns, have advanced by `horizon`, a branch stops with the value of its
    position as its payoff; so all branches stop at one time.
    """
    end = 1 + max((row.turn for row in parent.decisions), default=parent.forked_at - 1)
    turn = end if at is None else at
    last = end - 1 if parent.finished else end
    if not parent.forked_at <= turn <= last:
        over = ", where it was over" if turn == end else ""
        raise BadParameter(
            f"Episode {parent.id} can be forked `at` turns {parent.forked_at} to {last}, not at {turn}{over}."
        )
    group = name or f"{parent.id}+{turn}"
    state = replay(parent, turn, parents)
    shared, players = key.at("alike"), range(len(match.players))
    for number in range(count):
        own = key.at("fork", number)
        yield Setup(
            id=f"{group}/{number}",
            match=match,
            slots=parent.slots if slots is None else slots,
            key=own,
            purpose=purpose,
            group=group,
            parent=parent.id,
            forked_at=turn,
            state=state,
            fresh_chance=fresh_chance,
            until=None if horizon is None else clock_of(state, turn) + horizon,
            counted=horizon is not None,
            draw_keys=tuple(shared if slot in alike else own for slot in players) if alike else (),
            pasts=parent.pasts,
        )
