"""Search for the smallest episode that shows what a check found: fewer moves, first legal actions, an earlier key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from stratagem.games.base import Game, View
from stratagem.games.conformance.report import BrokenRule, PlayedPath
from stratagem.games.conformance.walk import VerifiedGame
from stratagem.games.key import Key

_SECONDS = 5.0
"""Seconds after which no further episode is tried."""
_KEYS = 8
"""Number of first keys to try."""


class ConformanceRule(NamedTuple):
    """A check and the checks that it depends on."""

    name: str
    holds: Callable[[VerifiedGame], str]
    """Describes what was compared; raises `BrokenRule` or `NotApplicable`."""
    needs: tuple[str, ...] = ()


def smallest(rule: ConformanceRule, case: VerifiedGame, fault: BrokenRule, tries: int) -> BrokenRule:
    """Return the smallest fault of the rule among some episodes that are like the one found, or simpler."""
    best, size = fault, _size(case, fault)
    ends, seen = time.monotonic() + _SECONDS, 0
    improved = True
    while improved:
        improved = False
        for simpler in _simpler(case, best):
            seen += 1
            if seen > tries or time.monotonic() > ends:
                return best
            other = _fault(rule, simpler)
            if other is not None and (found := _size(case, other)) < size:
                best, size, improved = other, found, True
                break
    return best


def _first(view: View[Any], key: Key) -> str:
    return view.choices.first


def _simpler(case: VerifiedGame, fault: BrokenRule) -> Iterator[VerifiedGame]:
    """Yield cases of one table: first actions throughout, at early keys; then one action replaced by the first."""
    keys = [case.key.at("episode", number) for number in range(_KEYS)]
    bare = replace(case, player=_first)
    yield from (replace(bare, only=(key,)) for key in keys)
    if not fault.transcripts:
        return
    transcript = fault.transcripts[0]
    yield from (replace(bare, only=(key,), script=transcript.actions) for key in keys)
    for number in reversed(range(len(transcript.actions))):
        yield replace(bare, only=(transcript.key,), script=transcript.actions[:number])
        for script in _replace_actions(case.game, transcript, number):
            yield replace(bare, only=(transcript.key,), script=script)


def _replace_actions(game: Game[Any], transcript: PlayedPath, number: int) -> Iterator[tuple[Any, ...]]:
    """Yield the moves with one action of a move replaced by the first legal one."""
    try:
        state = PlayedPath(transcript.key, transcript.actions[:number]).replay(game)
        firsts = {seat: state.view(seat).choices.first for seat in state.to_act}
    except Exception:  # noqa: BLE001 - rules under test may raise anything
        return
    move, later = transcript.actions[number], transcript.actions[number + 1 :]
    for seat, first in firsts.items():
        if move.get(seat) != first:
            yield (*transcript.actions[:number], {**move, seat: first}, *later)


def _fault(rule: ConformanceRule, case: VerifiedGame) -> BrokenRule | None:
    """Return what the rule finds in a case, if it finds a fault."""
    try:
        rule.holds(case)
    except BrokenRule as fault:
        return fault
    except Exception:  # noqa: BLE001 - another finding than the one to be explained
        return None
    return None


def _size(case: VerifiedGame, fault: BrokenRule) -> tuple[int, int, int]:
    """Return the number of moves, of actions that are not the first legal ones, and the place of the key."""
    keys = [case.key.at("episode", number) for number in range(_KEYS)]
    transcripts = fault.transcripts or (PlayedPath(case.key),)
    place = max(keys.index(one.key) if one.key in keys else _KEYS for one in transcripts)
    return fault.size, sum(_other_actions(case.game, one) for one in transcripts), place


def _other_actions(game: Game[Any], transcript: PlayedPath) -> int:
    count = 0
    try:
        state = game.start(transcript.key)
        for move in transcript.actions:
            count += sum(action != state.view(seat).choices.first for seat, action in move.items())
            state.play(move)
    except Exception:  # noqa: BLE001 - the last move may be the one that raises
        return count
    return count
