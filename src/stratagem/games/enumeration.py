"""Enumeration of chance: the states after a move, or at the start of a game, and the walk through all positions.

Enumeration works on any game that draws through `Chance` alone. A `Tape` answers draws that were already settled and
stops the game at the first that was not; the game is then taken up again once for every outcome of that draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any, NoReturn, TypeVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game, RoundResult, Seat, State

Path = tuple[int | str, ...]
P = TypeVar("P")


class UnsettledDraw(Exception):
    """A draw that no tape has settled yet."""

    def __init__(self, path: Path, weights: Sequence[float]) -> None:
        super().__init__(path)
        self.path = path
        self.weights = weights


class Tape:
    """Source of chance that only knows the draws it was given."""

    __slots__ = ("path", "settled")

    def __init__(self, settled: Mapping[Path, int], path: Path = ()) -> None:
        self.settled = settled
        self.path = path

    def at(self, *path: int | str) -> Tape:
        """Return the source of one draw."""
        return Tape(self.settled, self.path + path)

    def integer(self, bound: int) -> int:
        """Return the settled outcome of an even draw."""
        settled = self.settled.get(self.path)
        return self.choose((1.0 / bound,) * bound) if settled is None else settled

    def choose(self, weights: Sequence[float]) -> int:
        """Return the settled outcome of a draw."""
        try:
            return self.settled[self.path]
        except KeyError:
            raise UnsettledDraw(self.path, weights) from None

    def __getattr__(self, name: str) -> NoReturn:
        raise CannotCompute(f"Chance cannot be enumerated where a game draws with {name!r}: use `integer` or `choose`.")

    def outcomes(self, draw: UnsettledDraw) -> Iterator[tuple[float, Tape]]:
        """This tape with each outcome of one more draw, and its probability."""
        total = checked_total(draw)
        for outcome, weight in enumerate(draw.weights):
            if weight > 0.0:
                yield weight / total, Tape({**self.settled, draw.path: outcome})


def checked_total(draw: UnsettledDraw) -> float:
    """Return the sum of a draw's weights, which need not be 1; refused where they are no weights.

    A negative weight is left out of the outcomes and would count in their sum, so the others would be too probable.
    """
    total = sum(draw.weights)
    if not (0.0 < total < math.inf and min(draw.weights) >= 0.0):
        raise BadParameter(
            f"Chance draws at {'/'.join(map(str, draw.path))} by the weights {[*draw.weights]}: give finite numbers of "
            "at least 0, and one above 0."
        )
    return total


def starts(game: Game[Any]) -> Iterator[tuple[float, State[Any]]]:
    """Yield every initial state of a game, with its probability."""
    yield from _starts(game, Tape({}), 1.0)


def _starts(game: Game[Any], tape: Tape, probability: float) -> Iterator[tuple[float, State[Any]]]:
    try:
        yield probability, game.start(tape)
    except UnsettledDraw as draw:
        for chance, settled in tape.outcomes(draw):
            yield from _starts(game, settled, probability * chance)


def outcomes(state: State[Any], actions: Mapping[Seat, str | None]) -> Iterator[tuple[float, State[Any], RoundResult]]:
    """Yield every outcome of a move, with its probability; `state` itself is unchanged and must come from `starts`."""
    tape = state.chance if isinstance(state.chance, Tape) else Tape({})
    yield from _outcomes(state, actions, tape, 1.0)


def _outcomes(
    state: State[Any], actions: Mapping[Seat, str | None], tape: Tape, probability: float
) -> Iterator[tuple[float, State[Any], RoundResult]]:
    after = fork_state(state, tape)
    try:
        result = after.play(actions)
    except UnsettledDraw as draw:
        for chance, settled in tape.outcomes(draw):
            yield from _outcomes(state, actions, settled, probability * chance)
        return
    yield probability, after, result


def fork_state(state: State[Any], tape: Tape) -> State[Any]:
    """Fork a state, whose class must draw nothing when it is made."""
    try:
        return state.fork(tape)
    except UnsettledDraw:
        raise BadParameter(
            f"{state.game.spec.name} draws chance in `__init__`, which runs at every fork, too: draw in `begin` or "
            "`play`."
        ) from None


def joint_actions(state: State[Any]) -> Iterator[dict[Seat, str | None]]:
    """Yield every joint action of the seats to act, in the order of their choices; none after the end."""
    if state.to_act:  # a product of nothing has one element
        for joint in product(*(state.view(seat).choices for seat in state.to_act)):
            yield dict(zip(state.to_act, joint, strict=True))


def successors(state: State[Any]) -> Iterator[tuple[State[Any], RoundResult]]:
    """Yield every state that one move can lead to, with the result of the move; none after the end."""
    for actions in joint_actions(state):
        for _, after, result in outcomes(state, actions):
            yield after, result


def walk_positions(
    first: Iterable[P], follow: Callable[[P], Iterable[P]], key: Callable[[P], Hashable] | None = None
) -> Iterator[tuple[int, P]]:
    """Yield every position with its number of moves, by breadth and as soon as it is met.

    `follow` gives the positions after one. Positions with equal keys count as one; without `key` all count, and the
    walk is that of a tree. No position is followed before all that are as deep have been met.
    """
    known = set[Hashable]()
    layer, depth = first, 0
    while True:
        met: list[P] = []
        for position in layer:
            if key is not None and (place := key(position)) in known:
                continue
            if key is not None:
                known.add(place)
            met.append(position)
            yield depth, position
        if not met:
            return
        layer, depth = chain.from_iterable(map(follow, met)), depth + 1


def dump_of(state: State[Any]) -> str:
    """Return the key of a state that differs from every other one."""
    return repr(state.dump())
