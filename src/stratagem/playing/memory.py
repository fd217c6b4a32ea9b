"""Memory of a seat: four kinds, and what each carries from the finished episodes of a trial into the next one.

The rounds of the present episode are in the seat's view, and its prompt style tells of as many of them as the kind
says. Only `trial` carries anything over an episode's end: the counts of the joint actions and the last of them.

A trial is one sequence of episodes. Where several sequences are played side by side, as ShapeLLM's N environments are,
each is remembered by itself: the paper's observation is a function of a^1, ..., a^(tau-1) with tau at most E x T, so
one joint action for each round of one environment, never N. It also keeps the counts of one seat in step with the last
joint action that is shown beside them.

Joint actions are what was played at the table, in full: this is for games whose seats all choose at once and then see
what the others chose, as in the matrix games, the auction and both negotiations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from stratagem.base.errors import BadParameter, BadRecord, UnknownName
from stratagem.games.base import Game, Seat
from stratagem.language.prompting.base import Style
from stratagem.language.prompting.past import NOTHING, Joint, Past
from stratagem.playing.forks import parent_of
from stratagem.playing.records import Decision, Episode


@dataclass(frozen=True)
class Memory:
    """Kind of memory: the visible rounds of the own episode, and whether earlier episodes are remembered."""

    rounds: int | None
    """Number of rounds as `Style.memory` counts them: None is all of them."""
    carries: bool = False


MEMORIES: dict[str, Memory] = {
    "none": Memory(0),
    "last": Memory(1),
    "episode": Memory(None),
    "trial": Memory(None, carries=True),
}
"""Every kind by name: nothing; the last joint action; the whole episode; all episodes of the trial."""


def memory_of(name: str) -> Memory:
    """Return the kind of that name."""
    if name not in MEMORIES:
        raise UnknownName("memory", name, MEMORIES)
    return MEMORIES[name]


def check_memory(name: str, style: Style, game: Game[Any]) -> None:
    """Refuse a memory that the prompt style does not show, or that this game does not admit."""
    memory = memory_of(name)
    if style.memory != memory.rounds:
        raise BadParameter(
            f"memory={name} goes with a style that tells of {_rounds(memory.rounds)} of the episode, and this one "
            f"tells of {_rounds(style.memory)}."
        )
    if memory.carries and not style.recalls:
        raise BadParameter(
            f"memory={name} carries counts over from earlier episodes, which this style does not tell of: take a style "
            "that does, such as shapellm-occurrence."
        )
    if memory.carries and not game.spec.simultaneous:
        raise BadParameter(
            f"memory={name} counts what the seats chose at once, and in {game.spec.name} they take turns."
        )


def _rounds(count: int | None) -> str:
    return {None: "all rounds", 0: "no round", 1: "the last round"}.get(count, f"the last {count} rounds")


def carry_memory(
    memory: str, earlier: Sequence[Episode], slot: int, parents: Mapping[str, Episode] | None = None
) -> Past:
    """Return the memory of a player for the next episode of a trial, from the records of the earlier ones in order.

    A round in which somebody said nothing legal is no joint action. Forks need their `parents`, where they began.
    """
    if not memory_of(memory).carries:
        return NOTHING
    rounds = [joint for episode in earlier for joint in joint_actions(episode, slot, parents)]
    legal = [joint for joint in rounds if joint is not None]
    return Past(dict(Counter(legal)), legal[-1] if legal else None, len(rounds))


def joint_actions(episode: Episode, slot: int, parents: Mapping[str, Episode] | None = None) -> Iterator[Joint | None]:
    """Yield the joint action of each round of an episode, as this player names it.

    None for a round with an illegal reply.
    """
    others = sorted(other for other in episode.slots if other != slot)
    seats = [episode.seat_of(who) for who in (slot, *others)]
    for _, rows in groupby(_decisions(episode, parents or {}), key=lambda row: row.turn):
        played = {row.seat: row.action for row in rows}  # of several attempts, the last was played
        yield _joint(episode, seats, played)


def _joint(episode: Episode, seats: Sequence[Seat], played: Mapping[Seat, str | None]) -> Joint | None:
    if len(played) < len(seats):
        raise BadRecord(
            f"Episode {episode.id} has turns at which not every seat chose, so it has no joint actions to count."
        )
    actions = [played[seat] for seat in seats]
    return None if None in actions else tuple(action for action in actions if action is not None)


def _decisions(episode: Episode, parents: Mapping[str, Episode]) -> Iterator[Decision]:
    """Yield the decisions that led to the end of an episode, with those of the episodes that it was forked from."""
    if not episode.decisions and any(episode.num_decisions):
        raise BadRecord(f"Episode {episode.id} was recorded without its decisions, so they cannot be counted.")
    if episode.parent:
        before = _decisions(parent_of(episode, parents), parents)
        yield from (row for row in before if row.turn < episode.forked_at)
    yield from episode.decisions
