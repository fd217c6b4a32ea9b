"""Redraw of what a seat does not see, by replay: rounds are dealt and played anew until the seat has seen the same.

Its own actions, and those of others that it has seen, are played again; hidden actions are drawn evenly. Rounds know
nothing of each other's deals, so each is redrawn alone. Draws that the seat has seen are made again, and hidden ones
come from what these leave in the deck, which follows the chance of the game, since the cards of a deck are
exchangeable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Seat
from stratagem.games.drawn.events import ALL, Event
from stratagem.games.key import Chance

if TYPE_CHECKING:
    from stratagem.games.drawn.state import DescribedState

_TRIES = 20_000


def replay(state: DescribedState, seat: Seat, chance: Chance) -> DescribedState:
    """Return a state that the seat cannot tell from this one, with everything that it does not see drawn anew."""
    description = state.game.description
    played = state.round - state.over
    first = played if description.forget else 0
    copy = type(state)(state.game, chance)
    copy.round, copy.moves = first, state.moves[:first]
    for number in range(first, played + 1):
        copy = _replay_round(copy, state, seat, chance.at("resample", number))
    copy.chance = chance
    if state.over:
        copy.end()
    return copy


def _replay_round(before: DescribedState, seen: DescribedState, seat: Seat, chance: Chance) -> DescribedState:
    """Return the round after `before`, replayed until `seat` has seen in it what it saw in `seen`."""
    begun = 0 if seen.game.description.forget else len(before.logs[seat])
    moves, log = seen.moves[before.round], seen.logs[seat][begun:]
    done = before.round < seen.round
    for number in range(_TRIES):
        copy = before.fork(chance.at("try", number))
        copy.guide = SeenDraws(state_items(seen), log, seat)
        copy.begin()
        if _follow(copy, moves, log, begun, seat) and copy.to_act == (() if done else seen.to_act):
            copy.guide = None
            if done:
                copy.pay_round()
            known = copy.logs[seat][begun:]
            if known == log[: len(known)] and (done or len(known) == len(log)):
                return copy
    raise CannotCompute(
        f"{seen.game.spec.name} cannot redraw what a seat does not see: {_TRIES:,} deals did not fit what it has seen."
    )


class SeenDraws:
    """Faces that a seat has seen drawn in a round, in their order by item."""

    def __init__(self, items: tuple[tuple[str, ...], ...], log: tuple[Event, ...], seat: Seat) -> None:
        self.seat = seat
        self._faces: dict[int, list[int]] = {}
        for place, event in enumerate(log):
            if event.kind == "round" and place:
                break
            if event.kind == "opens" or (event.kind == "gets" and event.seat == seat):
                self._faces.setdefault(event.step, []).append(items[event.step].index(event.what))

    def next_face(self, item: int, holder: Seat) -> int | None:
        """Return the face of the next draw, where the seat has seen it."""
        faces = self._faces.get(item)
        return faces.pop(0) if faces and holder in (ALL, self.seat) else None

    def to_come(self, item: int) -> list[int]:
        """Return the faces of an item that are drawn later, so that hidden draws leave them in the deck."""
        return self._faces.get(item, [])


def state_items(state: DescribedState) -> tuple[tuple[str, ...], ...]:
    """Return the faces of each item of a state's game."""
    return tuple(item.faces for item in state.game.description.items)


def _follow(state: DescribedState, moves: int, log: tuple[Event, ...], begun: int, seat: Seat) -> bool:
    """Play the moves of a log; False as soon as they do not fit the deal, or it shows something else."""
    known = _shown_actions(log)
    for number in range(moves):
        actions: dict[Seat, str | None] = {}
        for other in state.to_act:
            legal, said = state.game.description.steps[state.at].legal(state, other), known.get((other, state.at))
            if other == seat and not said:
                return False
            hidden = legal[state.chance.at("hidden", number, other).integer(len(legal))]
            actions[other] = said.pop(0) if said else hidden
            if actions[other] not in legal:
                return False
        if not actions:
            return False
        state.move(actions)
        seen = state.logs[seat][begun:]
        if seen != log[: len(seen)]:
            return False
    return True


def _shown_actions(log: tuple[Event, ...]) -> dict[tuple[Seat, int], list[str]]:
    """Return the actions of a round that a seat has made or seen, by seat and step, in their order."""
    known: dict[tuple[Seat, int], list[str]] = {}
    for place, event in enumerate(log):
        if event.kind == "round" and place:
            break
        if event.kind in ("plays", "hides"):
            known.setdefault((event.seat, event.step), []).append(event.what)
    return known
