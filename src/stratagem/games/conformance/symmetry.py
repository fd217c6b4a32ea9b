"""Check of symmetry: an exchange of declared symmetric seats changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Seat, State, View
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.walk import Chooser, VerifiedGame, at_random, every_episode
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key

_POSITIONS = 3000
"""Number of positions beyond which a game is sampled instead of enumerated."""
SAMPLED = 400
"""Number of sampled tables a seat."""
_SIGMAS = 5.5
"""Tolerated difference in standard errors; chance exceeds it less than once in ten million comparisons."""


def symmetry(case: VerifiedGame) -> str:
    """Check that payoffs are exchanged with the seats: move for move without chance, in expectation with it."""
    if not case.game.spec.symmetric:
        raise NotApplicable("the game does not declare its seats symmetric")
    if case.game.spec.seats < 2:
        raise NotApplicable("there is one seat only")
    if not case.game.spec.chance:
        return every_episode(case, _exchange_seats)
    try:
        return _expected_alike(case)
    except CannotCompute:
        return _sampled_alike(case)


def _exchange_seats(case: VerifiedGame, key: Key) -> None:
    for other in range(1, case.game.spec.seats):
        swap = {**{seat: seat for seat in range(case.game.spec.seats)}, 0: other, other: 0}
        mirror = case.game.start(key)
        for here in case.walk(key):
            if here.result is None:
                continue
            actions = {swap[seat]: action for seat, action in here.transcript.actions[-1].items()}
            if set(actions) != set(mirror.to_act):
                raise BrokenRule(f"with seats 0 and {other} exchanged others are to act", here.transcript)
            payoffs = mirror.play(actions).payoffs
            if tuple(payoffs[swap[seat]] for seat in range(len(payoffs))) != tuple(here.result.payoffs):
                says = f"with seats 0 and {other} exchanged {here.result.payoffs} became {payoffs}"
                raise BrokenRule(says, here.transcript)


def _first(view: View[Any], key: Key) -> str:
    return view.choices.first


PAIRS: tuple[tuple[str, Chooser, Chooser], ...] = (
    ("first choices among random players", _first, at_random),
    ("a random player among first choices", at_random, _first),
)


def _expected_alike(case: VerifiedGame) -> str:
    """Compare exactly the expected payoffs, at each seat, of one player who differs from the rest."""
    for name, deviant, rest in PAIRS:
        values = [_expectation(case, seat, deviant, rest) for seat in range(case.game.spec.seats)]
        if max(values) - min(values) > 1e-9:
            raise BrokenRule(f"{name} expect {values} by seat", PlayedPath(case.key))
    return "expectations by enumeration"


def _expectation(case: VerifiedGame, seat: Seat, deviant: Chooser, rest: Chooser) -> float:
    budget = [_POSITIONS]
    return sum(p * _value(state, seat, deviant, rest, budget) for p, state in starts(case.game))


def _value(state: State[Any], seat: Seat, deviant: Chooser, rest: Chooser, budget: list[int]) -> float:
    budget[0] -= 1
    if budget[0] < 0:
        raise CannotCompute("the game is too large to be enumerated")
    if state.over:
        return 0.0
    total = 0.0
    for chosen, actions in _plays(state, {s: deviant if s == seat else rest for s in state.to_act}):
        for chance, after, result in outcomes(state, actions):
            total += chosen * chance * (result.payoffs[seat] + _value(after, seat, deviant, rest, budget))
    return total


def _plays(state: State[Any], choosers: dict[Seat, Chooser]) -> Iterator[tuple[float, dict[Seat, str | None]]]:
    plays: list[tuple[float, dict[Seat, str | None]]] = [(1.0, {})]
    for seat, chooser in choosers.items():
        choices = state.view(seat).choices
        listed = [choices.first] if chooser is _first else list(choices)
        plays = [(p / len(listed), {**actions, seat: choice}) for p, actions in plays for choice in listed]
    yield from plays


def _sampled_alike(case: VerifiedGame) -> str:
    """Compare the same by sampling, each seat on tables of its own."""
    for name, deviant, rest in PAIRS:
        first = None
        for seat in range(case.game.spec.seats):
            mean, error = _sample(case, seat, deviant, rest)
            first = first or (mean, error)
            if abs(mean - first[0]) > _SIGMAS * sqrt(error**2 + first[1] ** 2) + 1e-9:
                says = f"{name} earn {mean:.3f} at seat {seat} and {first[0]:.3f} at seat 0"
                raise BrokenRule(f"{says}, over {SAMPLED} tables each", PlayedPath(case.key))
    return f"means over {SAMPLED} tables a seat"


def _sample(case: VerifiedGame, seat: Seat, deviant: Chooser, rest: Chooser) -> tuple[float, float]:
    totals = []
    for key in case.tables(f"symmetry {seat}", SAMPLED):
        state, total, moves = case.game.start(key), 0.0, 0
        while not state.over:
            draws = key.at("player", moves)
            choosers = ((s, deviant if s == seat else rest) for s in state.to_act)
            total += state.play({s: chooser(state.view(s), draws.at(s)) for s, chooser in choosers}).payoffs[seat]
            moves += 1
        totals.append(total)
    mean = sum(totals) / len(totals)
    return mean, sqrt(sum((total - mean) ** 2 for total in totals) / (len(totals) - 1) / len(totals))
