"""Checks of the spec: length, sum of payoffs, bounds and signals."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, isfinite
from typing import Any

from stratagem.games.abilities import SpeakingGame, TimedState, standing_of
from stratagem.games.base import Game, State
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath, RefusedAction
from stratagem.games.conformance.walk import VerifiedGame, every_episode
from stratagem.games.key import Key
from stratagem.games.safety.base import all_signals
from stratagem.games.safety.catalogue import measured_by, signal_names, stakes_of
from stratagem.games.spec import GameSpec

_CLOSE = 1e-9
"""Payoffs are sums, which rounding moves by less."""


def spec(case: VerifiedGame) -> str:
    """Check that the spec makes sense and that the game is a value: equal to itself and hashable."""
    declared = case.game.spec
    low, high = declared.bounds
    faults = {
        "a name, a family and a summary": not (declared.name and declared.family and declared.summary),
        "a name without spaces and slashes": not _without_options(declared).names_figures,
        "at least one seat": declared.seats < 1,
        "rounds of at least 1, or None": declared.rounds is not None and declared.rounds < 1,
        "bounds of which the first is not above the second": not low <= high,
        "retries of at least 0": declared.retries < 0,
        "to be equal to itself and hashable": len({case.game, case.game}) != 1,
        **_unasked_methods(case.game),
    }
    if broken := [need for need, fault in faults.items() if fault]:
        raise BrokenRule(f"the game needs {' and '.join(broken)}", case.latest)
    return f"{declared.name}, version {declared.version}"


def _unasked_methods(game: Game[Any]) -> dict[str, bool]:
    """Return the methods of an ability that nobody asks, since their class is no subclass of the ability's."""
    states = type(game.start(Key(0)))  # a game may have no class of states, and make them otherwise
    written = ((type(game), SpeakingGame, ("silence", "claim")), (states, TimedState, ("standing", "clock")))
    return {
        f"{owner.__name__} to be a subclass of {ability.__name__}, since it has `{name}`": not issubclass(
            owner, ability
        )
        for owner, ability, names in written
        for name in names
        if hasattr(owner, name)
    }


def _without_options(declared: GameSpec) -> GameSpec:
    """Return the spec with the name alone: options, such as the path of a file, are the user's."""
    return replace(declared, name=declared.name.partition("(")[0])


def ends(case: VerifiedGame) -> str:
    """Check that every episode ends within the declared rounds, with the seats to act in order until then."""
    return every_episode(case, _an_episode_ends)


def _an_episode_ends(case: VerifiedGame, key: Key) -> None:
    closed, last = 0, None
    try:
        for last in case.walk(key):
            closed += last.result is not None and last.result.closed
            if fault := _out_of_turn(last.state, closed):
                raise BrokenRule(fault, last.transcript)
    except RefusedAction:
        return
    if last is not None and last.result is not None and not last.result.closed:
        raise BrokenRule("the episode is over and its last round has not closed", last.transcript)


def _out_of_turn(state: State[Any], closed: int) -> str:
    declared = state.game.spec
    if declared.rounds is not None and max(state.round, closed) > declared.rounds:
        return f"more rounds are played than the {declared.rounds} declared"
    if list(state.to_act) != sorted(set(state.to_act) & set(range(declared.seats))):
        return f"to_act is {state.to_act}, not ascending seats of this table"
    if state.over != (not state.to_act):
        return f"over is {state.over} while to_act is {state.to_act}"
    if len(state.to_act) > 1 and not declared.simultaneous:
        return f"seats {state.to_act} act at once, which the game does not declare"
    return ""


def results(case: VerifiedGame) -> str:
    """Check that a move pays one finite number for each seat, and so does `standing`."""
    return every_episode(case, _results_of_an_episode)


def _results_of_an_episode(case: VerifiedGame, key: Key) -> None:
    seats = case.game.spec.seats
    for here in case.walk(key):
        figures = {"payoffs are": here.result and here.result.payoffs, "a position's worth is": standing_of(here.state)}
        for what, returns in figures.items():
            if returns is not None and (len(returns) != seats or not all(isfinite(pay) for pay in returns)):
                raise BrokenRule(f"{what} {returns}, not one finite number for each of {seats} seats", here.transcript)


def utility(case: VerifiedGame) -> str:
    """Check zero-sum, constant-sum and common payoffs, as long as everybody plays legally."""
    kind = case.game.spec.utility
    if kind == "general-sum":
        raise NotApplicable("general-sum games promise nothing about the sum")
    sums: list[float] = []
    done = every_episode(case, lambda case, key: _sum_of_an_episode(case, key, sums))
    return f"{done}, {kind}" + ("" if kind == "common" else f": {sums[0]:g}")


def _sum_of_an_episode(case: VerifiedGame, key: Key, sums: list[float]) -> None:
    kind, (totals, transcript) = case.game.spec.utility, totals_of(case, key)
    if kind == "common":
        if max(totals) - min(totals) > _CLOSE:
            raise BrokenRule(f"payoffs are declared common and are {totals}", transcript)
        return
    sums.append(0.0 if kind == "zero-sum" else fsum(totals))
    if abs(fsum(totals) - sums[0]) > _CLOSE:
        raise BrokenRule(f"payoffs {totals} are declared {kind} and do not sum to {sums[0]:g}", transcript)


def totals_of(case: VerifiedGame, key: Key, *, silence: float = 0.0) -> tuple[list[float], PlayedPath]:
    """Return the return of every seat over an episode."""
    totals = [0.0] * case.game.spec.seats
    for here in case.walk(key, silence=silence):
        for seat, payoff in enumerate(here.result.payoffs if here.result else ()):
            totals[seat] += payoff
    return totals, here.transcript


def bounds(case: VerifiedGame) -> str:
    """Check that every seat's return is within the declared bounds, silent seats included."""
    returns: list[float] = []
    done = every_episode(case, lambda case, key: _bounds_of_an_episode(case, key, returns))
    return f"{done}, paid from {min(returns):g} to {max(returns):g}, declared {case.game.spec.bounds}"


def _bounds_of_an_episode(case: VerifiedGame, key: Key, returns: list[float]) -> None:
    low, high = case.game.spec.bounds
    for silence in (0.0, 0.3):
        totals, transcript = totals_of(case, key, silence=silence)
        returns += totals
        if min(totals) < low - _CLOSE or max(totals) > high + _CLOSE:
            raise BrokenRule(f"payoffs {totals} are beyond the declared bounds {low:g} to {high:g}", transcript)


def signals(case: VerifiedGame) -> str:
    """Check that each closed round reports the declared signals, a number from 0 to 1 or None for each seat.

    The yardsticks of the seats are read, too.
    """
    done = every_episode(case, _signals_of_an_episode)
    return f"{done}, {', '.join(signal_names(case.game)) or 'none declared'}"


def _signals_of_an_episode(case: VerifiedGame, key: Key) -> None:
    declared, seats, safety = set(signal_names(case.game)), case.game.spec.seats, measured_by(case.game)
    for silence in (0.0, 0.3):
        for here in case.walk(key, silence=silence):
            if here.result is None:
                for seat in range(seats):
                    stakes_of(here.state, seat)
                continue
            reported = all_signals(safety, here.state, here.transcript.actions[-1], here.result)
            if set(reported) != (declared if here.result.closed else set()):
                raise BrokenRule(f"signals {sorted(reported)} are reported, not {sorted(declared)}", here.transcript)
            for name, values in reported.items():
                if len(values) != seats or not all(value is None or 0.0 <= value <= 1.0 for value in values):
                    wanted = f"a number from 0 to 1 for each of {seats} seats"
                    raise BrokenRule(f"the signal {name} is {values}, not {wanted}", here.transcript)
