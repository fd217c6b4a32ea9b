"""Brute force: values and best responses of a small game, from `start`, `view`, `play`, `fork` and keyed chance alone.

Every history is played. It shares no code with the game trees and the inductions that exact figures come from, and
takes no situations as one, so it can check them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from stratagem.games.base import Game, RoundResult, Seat, State, View

T = TypeVar("T")
Policy = Callable[[View[Any]], Mapping[str, float]]
"""Probability of each action at a view."""
Path = tuple[int | str, ...]
HISTORIES = 20_000
"""Largest number of histories that are played by default: some seconds."""
_Reached = tuple[float, State[Any]]
"""Probability of a position, and the position."""


class TooLarge(Exception):
    """A game with more histories than may be played."""


class GameSize(NamedTuple):
    """Size of a game, and what is wrong with its information sets."""

    histories: int
    """Number of histories after the draws and the moves of all seats to act, the ends included."""
    information_sets: int
    fault: str
    """Two situations in one information set that the seat can tell apart; empty where there are none."""


class EpisodeExpectation(NamedTuple):
    """Expectation of one episode in which all seats play one policy."""

    returns: tuple[float, ...]
    rounds: float


class _Draw(Exception):
    """A draw that is not settled yet."""

    def __init__(self, path: Path, weights: Sequence[float]) -> None:
        super().__init__(path)
        self.path, self.weights = path, weights


class _Tape:
    """Chance whose draws are settled beforehand."""

    def __init__(self, settled: Mapping[Path, int], path: Path = ()) -> None:
        self.settled, self.path = settled, path

    def at(self, *path: int | str) -> _Tape:
        return _Tape(self.settled, self.path + path)

    def integer(self, bound: int) -> int:
        return self.choose((1.0,) * bound)

    def choose(self, weights: Sequence[float]) -> int:
        if self.path not in self.settled:
            raise _Draw(self.path, weights)
        return self.settled[self.path]


def explore(game: Game[Any], most: int) -> GameSize:
    """Play every history of a game, and look at what each seat is shown; `TooLarge` beyond so many."""
    histories, shown, fault = 0, dict[tuple[Any, ...], tuple[str, tuple[str, ...]]](), ""
    waiting: list[tuple[State[Any], tuple[Any, ...]]] = []
    for _, state in _starts(game):
        waiting.append((state, ((),) * game.spec.seats))
        _check_size(len(waiting), most)
    while waiting:
        state, recalls = waiting.pop()
        histories += 1
        _check_size(histories + len(waiting), most)
        views = {seat: state.view(seat) for seat in state.to_act}
        if any(view.choices.is_open for view in views.values()):
            raise TooLarge
        _check_size(math.prod(view.choices.count for view in views.values()), most)  # before any of them is played
        for seat, view in views.items():
            seen, known = (seat, recalls[seat], view.info_key), (view.situation, tuple(view.choices))
            if shown.setdefault(seen, known) != known:
                told = f"seat {seat} at {view.info_key!r} is shown {shown[seen]} and {known}"
                fault = fault or f"one information set has two situations that the seat can tell apart: {told}"
        if not state.over:
            for actions in _joint(state, {seat: view.choices for seat, view in views.items()}):
                for _, after, _ in _plays(state, actions):
                    waiting.append((after, _extend_recalls(state, recalls, actions)))
                    _check_size(histories + len(waiting), most)
    return GameSize(histories, len(shown), fault)


def values(game: Game[Any], policy: Policy) -> EpisodeExpectation:
    """Return the payoff of each seat, and the number of rounds, where all seats play a policy."""
    returns, rounds, waiting = [0.0] * game.spec.seats, 0.0, [*_starts(game)]
    while waiting:
        reached, state = waiting.pop()
        for probability, after, result in _moves(state, policy):
            returns = [sum_ + reached * probability * paid for sum_, paid in zip(returns, result.payoffs, strict=True)]
            rounds += reached * probability * result.closed
            waiting.append((reached * probability, after))
    return EpisodeExpectation(tuple(returns), rounds)


def best_response(game: Game[Any], policy: Policy, seat: Seat) -> tuple[float, float]:
    """Return the largest payoff of a seat, and its largest payoff less the mean of the others', against a policy."""
    return _best(policy, seat, [*_starts(game)])


def _best(policy: Policy, seat: Seat, reached: list[_Reached]) -> tuple[float, float]:
    """Return the same from positions before which the seat has seen and done the same."""
    payoff, advantage, sets = 0.0, 0.0, dict[str, list[_Reached]]()
    while reached:
        probability, state = reached.pop()
        if seat in state.to_act:
            sets.setdefault(state.view(seat).info_key, []).append((probability, state))
            continue
        for chance, after, result in _moves(state, policy):
            paid = _payoffs_of(result, seat)
            payoff, advantage = payoff + probability * chance * paid[0], advantage + probability * chance * paid[1]
            reached.append((probability * chance, after))
    for alike in sets.values():
        found = [_expect_action(policy, seat, action, alike) for action in alike[0][1].view(seat).choices]
        payoff, advantage = payoff + max(one for one, _ in found), advantage + max(other for _, other in found)
    return payoff, advantage


def _expect_action(policy: Policy, seat: Seat, action: str, alike: Sequence[_Reached]) -> tuple[float, float]:
    """Return the same for one action at all positions of an information set."""
    payoff, advantage, reached = 0.0, 0.0, list[_Reached]()
    for probability, state in alike:
        for chance, after, result in _moves(state, policy, {seat: action}):
            paid = _payoffs_of(result, seat)
            payoff, advantage = payoff + probability * chance * paid[0], advantage + probability * chance * paid[1]
            reached.append((probability * chance, after))
    later = _best(policy, seat, reached)
    return payoff + later[0], advantage + later[1]


def _payoffs_of(result: RoundResult, seat: Seat) -> tuple[float, float]:
    own = result.payoffs[seat]
    return own, own - (math.fsum(result.payoffs) - own) / (len(result.payoffs) - 1)


def _starts(game: Game[Any]) -> Iterator[_Reached]:
    return _outcomes(game.start, _Tape({}))


def _moves(
    state: State[Any], policy: Policy, fixed: Mapping[Seat, str] | None = None
) -> Iterator[tuple[float, State[Any], RoundResult]]:
    """Yield every outcome of a move; nothing once the game is over."""
    fixed = fixed or {}
    mixes = {seat: {fixed[seat]: 1.0} if seat in fixed else policy(state.view(seat)) for seat in state.to_act}
    for actions in _joint(state, mixes) if mixes else ():
        chosen = math.prod(mixes[seat][action] for seat, action in actions.items())
        if chosen:
            for chance, after, result in _plays(state, actions):
                yield chosen * chance, after, result


def _joint(state: State[Any], choices: Mapping[Seat, Any], at: int = 0) -> Iterator[dict[Seat, str]]:
    """Yield every joint action, one by one: `itertools.product` would list the choices of each seat first."""
    if at == len(state.to_act):
        yield {}
        return
    seat = state.to_act[at]
    for action in choices[seat]:
        for others in _joint(state, choices, at + 1):
            yield {seat: action, **others}


def _plays(state: State[Any], actions: Mapping[Seat, str]) -> Iterator[tuple[float, State[Any], RoundResult]]:
    def played(tape: _Tape) -> tuple[State[Any], RoundResult]:
        after = state.fork(tape)
        return after, after.play(actions)

    assert isinstance(state.chance, _Tape)
    for probability, (after, result) in _outcomes(played, state.chance):
        yield probability, after, result


def _outcomes(begin: Callable[[_Tape], T], tape: _Tape) -> Iterator[tuple[float, T]]:
    """Yield what begins with every outcome of its draws, with the probabilities; weights need not sum to 1."""
    try:
        made = begin(tape)
    except _Draw as draw:
        total = math.fsum(draw.weights)
        for index, weight in enumerate(draw.weights):
            if weight > 0.0:
                settled = _Tape({**tape.settled, draw.path: index})
                yield from ((weight / total * rest, made) for rest, made in _outcomes(begin, settled))
        return
    yield 1.0, made


def _extend_recalls(state: State[Any], recalls: tuple[Any, ...], actions: Mapping[Seat, str]) -> tuple[Any, ...]:
    """Return what each seat has seen and done after a move."""
    pairs = ((recall, actions.get(seat), seat) for seat, recall in enumerate(recalls))
    return tuple(recall if done is None else (recall, state.view(seat).info_key, done) for recall, done, seat in pairs)


def _check_size(count: int, most: int) -> None:
    if count > most:
        raise TooLarge
