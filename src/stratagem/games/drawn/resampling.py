"""State that redraws what a seat does not see, by replay.

Rounds are played anew until the seat has seen the same. What it sees of the deal is dealt again; the other pieces are
drawn from those that are left. Its own actions, and those of others that it has seen, are played again; hidden actions
are drawn evenly. Rounds know nothing of each other's deals, so each is redrawn alone. So the redraw follows the chance
of the game exactly, where the others play evenly.
"""

from __future__ import annotations

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Seat
from stratagem.games.drawn.events import ALL, Event, Piece
from stratagem.games.drawn.state import DescribedState
from stratagem.games.key import Chance

_TRIES = 20_000
"""Largest number of deals of a redraw."""


class RedrawableState(DescribedState):
    """State of a described game, and of its replay for a seat."""

    record_fields = ("logs",)

    watcher: Seat = ALL
    """Seat for which the round is played again; -1 in play."""
    expected: tuple[Piece, ...] = ()
    """Pieces that the watcher has seen dealt, as far as they are not dealt again yet."""

    def draw(self, item: int, number: int, to: Seat = ALL) -> Piece:
        if self.watcher == ALL or to not in (ALL, self.watcher) or not self.expected:
            return super().draw(item, number, to)
        piece, *others = self.expected
        self.expected = tuple(others)
        return piece

    def faces_left(self, item: int) -> list[int]:
        faces = super().faces_left(item)
        for piece in self.expected:
            if piece.item == item and piece.face in faces:
                faces.remove(piece.face)
        return faces

    def resample(self, seat: Seat, chance: Chance) -> RedrawableState:
        return _replay(self, seat, chance)


def _replay(state: RedrawableState, seat: Seat, chance: Chance) -> RedrawableState:
    """Return a state that the seat cannot tell from this one, with everything that it does not see drawn anew.

    Rounds are played anew. Its own actions, and those of others that it has
    seen, are played again; hidden actions are drawn evenly. Rounds know nothing of each other's deals, so each is
    redrawn alone. The redraw follows the chance of the game exactly.
    """
    description = state.game.description
    played = state.round - state.over
    first = played if description.forget else 0
    copy = RedrawableState(state.game, chance)
    copy.watcher = seat
    copy.round, copy.moves = first, state.moves[:first]
    for number in range(first, played + 1):
        copy = _replay_round(copy, state, seat, chance.at("resample", number))
    copy.chance, copy.watcher, copy.expected = chance, ALL, ()
    if state.over:
        copy.end()
    return copy


def _replay_round(before: RedrawableState, seen: RedrawableState, seat: Seat, chance: Chance) -> RedrawableState:
    """Return the round after `before`, replayed until `seat` has seen in it what it saw in `seen`."""
    begun = 0 if seen.game.description.forget else len(before.logs[seat])
    moves, log = seen.moves[before.round], seen.logs[seat][begun:]
    done = before.round < seen.round
    for number in range(_TRIES):
        copy = before.fork(chance.at("try", number))
        copy.watcher, copy.expected = seat, _drawn_pieces(seen, log, seat)
        copy.begin()
        if _follow(copy, moves, log, begun, seat) and copy.to_act == (() if done else seen.to_act):
            if done:
                copy.pay_round()
            known = copy.logs[seat][begun:]
            if known == log[: len(known)] and (done or len(known) == len(log)):
                return copy
    raise CannotCompute(
        f"{seen.game.spec.name} cannot redraw what a seat does not see: {_TRIES:,} deals did not fit what it has seen."
    )


def _follow(state: RedrawableState, moves: int, log: tuple[Event, ...], begun: int, seat: Seat) -> bool:
    """Play the moves of a log; False as soon as they do not fit the deal, or it shows something else."""
    known = _shown_actions(log)
    for number in range(moves):
        actions: dict[Seat, str | None] = {}
        for other in state.to_act:
            legal, said = state.game.description.steps[state.at].legal(state, other), known.get((other, state.at))
            if other == seat and not said:
                return False
            if said and not _may_be_chosen(state, other, len(legal), number):
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


def _drawn_pieces(seen: RedrawableState, log: tuple[Event, ...], seat: Seat) -> tuple[Piece, ...]:
    """Return the pieces of a round that a seat has seen dealt: its own, and those that lie open."""
    items, pieces = seen.game.description.items, list[Piece]()
    for place, event in enumerate(log):
        if event.kind == "round" and place:
            break
        if event.kind == "opens" or (event.kind == "gets" and event.seat == seat):
            pieces.append(Piece(event.step, items[event.step].faces.index(event.what)))
    return tuple(pieces)


def _may_be_chosen(state: RedrawableState, seat: Seat, num_legal: int, number: int) -> bool:
    """Draw whether a replay goes on after a choice, which is the likelier the fewer choices there are.

    A hand that allows more choices makes each of them less probable. The seat itself knows what it could choose.
    """
    fewest = state.game.description.steps[state.at].num_always
    if seat == state.watcher or not 0 < fewest < num_legal:
        return True
    return state.chance.at("weight", number, seat).integer(num_legal) < fewest
