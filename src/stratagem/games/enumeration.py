"""Enumeration of chance: the states after a move, or at the start of a game, with their probabilities.

It works on any game that draws through `Chance` alone. A `Tape` answers draws that were already settled and stops the
game at the first that was not; the game is then taken up again once for every outcome of that draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from stratagem.errors import CannotCompute
from stratagem.games.base import Game, RoundResult, Seat, State

Path = tuple[int | str, ...]


class Unsettled(Exception):
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
            raise Unsettled(self.path, weights) from None

    def __getattr__(self, name: str) -> NoReturn:
        raise CannotCompute(f"Chance cannot be enumerated where a game draws with {name!r}: use `integer` or `choose`.")

    def outcomes(self, draw: Unsettled) -> Iterator[tuple[float, Tape]]:
        """This tape with each outcome of one more draw, and its probability."""
        total = sum(draw.weights)
        for outcome, weight in enumerate(draw.weights):
            if weight > 0.0:
                yield weight / total, Tape({**self.settled, draw.path: outcome})


def starts(game: Game[Any]) -> Iterator[tuple[float, State[Any]]]:
    """Yield every initial state of a game, with its probability."""
    yield from _starts(game, Tape({}), 1.0)


def _starts(game: Game[Any], tape: Tape, probability: float) -> Iterator[tuple[float, State[Any]]]:
    try:
        yield probability, game.start(tape)
    except Unsettled as draw:
        for chance, settled in tape.outcomes(draw):
            yield from _starts(game, settled, probability * chance)


def outcomes(state: State[Any], actions: Mapping[Seat, str | None]) -> Iterator[tuple[float, State[Any], RoundResult]]:
    """Yield every outcome of a move, with its probability; `state` itself is unchanged and must come from `starts`."""
    tape = state.chance if isinstance(state.chance, Tape) else Tape({})
    yield from _outcomes(state, actions, tape, 1.0)


def _outcomes(
    state: State[Any], actions: Mapping[Seat, str | None], tape: Tape, probability: float
) -> Iterator[tuple[float, State[Any], RoundResult]]:
    after = state.fork(tape)
    try:
        result = after.play(actions)
    except Unsettled as draw:
        for chance, settled in tape.outcomes(draw):
            yield from _outcomes(state, actions, settled, probability * chance)
        return
    yield probability, after, result
