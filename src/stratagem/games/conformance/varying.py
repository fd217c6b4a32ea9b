"""Check of chance: what a game draws from its key varies with the key, and is drawn anew in a fork with fresh chance.

A game that declares chance and draws from another source, or from the same key whatever it is given, passes the checks
of equal keys. Paired deals and forks would then see one deal for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stratagem.games.conformance.report import Actions, BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.walk import VerifiedGame, all_shown
from stratagem.games.key import Key

_TABLES = 24
"""Number of tables, with the same players, of which two have to differ."""
Draws = dict[tuple[int | str, ...], int]
"""Outcomes by path."""


class WatchedKey:
    """Key that notes what is drawn from it."""

    __slots__ = ("draws", "key", "path")

    def __init__(self, key: Key, draws: Draws | None = None, path: tuple[int | str, ...] = ()) -> None:
        self.key, self.path = key, path
        self.draws: Draws = {} if draws is None else draws

    def at(self, *path: int | str) -> WatchedKey:
        """Return the source of one draw."""
        return WatchedKey(self.key.at(*path), self.draws, self.path + path)

    def integer(self, bound: int) -> int:
        """Draw a whole number, and note it if there was a choice."""
        return self._note_outcome(self.key.integer(bound), bound > 1)

    def choose(self, weights: Sequence[float]) -> int:
        """Draw an index, and note it if there was a choice."""
        return self._note_outcome(self.key.choose(weights), sum(weight > 0.0 for weight in weights) > 1)

    def _note_outcome(self, outcome: int, is_open: bool) -> int:
        if is_open:
            self.draws[self.path] = outcome
        return outcome

    def __getattr__(self, name: str) -> Any:
        return getattr(self.key, name)


def varies(case: VerifiedGame) -> str:
    """Check that draws are made from the key, change what is shown or paid, and are made again with fresh chance."""
    if not case.game.spec.chance:
        raise NotApplicable("the game declares no chance")
    told = _over_tables(case)
    redrawn = _over_forks(case)
    return f"{told}, {redrawn} draws made again in forks with fresh chance"


def _over_tables(case: VerifiedGame) -> str:
    """Play the same way at tables with different keys until two differ in what is shown or paid."""
    draws: Draws = {}
    first: tuple[Draws, list[Any]] | None = None
    differ = False
    for number, key in enumerate(case.tables("varies", _TABLES), 1):
        draws, seen = _play_episode(case, key)
        first = first or (draws, seen)
        if seen != first[1] and draws:
            return f"two of {number} tables differ"
        differ |= draws != first[0] or seen != first[1]
    if not draws:
        other = "another generator deals" if differ else "every table is alike"
        raise BrokenRule(
            f"the game declares chance, and draws nothing from its key by `integer` or `choose`: {other}", case.latest
        )
    if differ:
        raise BrokenRule(f"the draws of {_TABLES} tables differ, and nothing that is shown or paid does", case.latest)
    return f"no draw of {_TABLES} tables came out otherwise"


def _play_episode(case: VerifiedGame, key: Key) -> tuple[Draws, list[Any]]:
    """Play an episode whose players do not depend on the key; return the draws, and all that was shown and paid."""
    source = WatchedKey(key)
    state, transcript = case.game.start(source), PlayedPath(key)
    seen: list[Any] = [all_shown(state)]
    while not state.over:
        actions = case.joint(state, case.key.at("alike", len(transcript.actions)))
        case.latest = transcript = transcript.then(actions)
        seen += [state.play(actions), all_shown(state)]
    return source.draws, seen


def _over_forks(case: VerifiedGame) -> int:
    """Continue positions with the same actions and fresh chance; return the number of draws that were made again."""
    later = again = 0
    last: PlayedPath | None = None
    for key in case.tables("varies"):
        actions, source = _moves(case, key), WatchedKey(key)
        state = case.game.start(source)
        for number, move in enumerate(actions):
            before, fresh = len(source.draws), WatchedKey(key.at("fresh", number))
            fork = state.fork(fresh)
            state.play(move)
            if (made := len(source.draws) - before) > 0:
                fork.play(move)  # the same actions are legal, since nothing has been drawn yet
                later, again, last = later + made, again + len(fresh.draws), PlayedPath(key, actions[: number + 1])
    if later and not again and last is not None:
        raise BrokenRule("a fork with fresh chance draws nothing from it, where the original draws", last)
    return again


def _moves(case: VerifiedGame, key: Key) -> tuple[Actions, ...]:
    *_, last = case.walk(key)
    return last.transcript.actions
