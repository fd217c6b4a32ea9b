"""Random episodes for the checks: every position with its path, and the seats' views there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter, IllegalAction
from stratagem.games.base import Game, RoundResult, Seat, State, View
from stratagem.games.conformance.report import (
    Actions,
    BrokenRule,
    Endless,
    NotApplicable,
    PlayedPath,
    RefusedAction,
    describe_error,
)
from stratagem.games.key import Key

MOVES = 3000
"""Number of moves after which an episode counts as endless."""
_CLOSER = 8
"""Number of positions of an episode that are checked in detail."""
_LISTED = 500
"""Number of a position's choices that are compared."""

Chooser = Callable[[View[Any], Key], str]


def at_random(view: View[Any], key: Key) -> str:
    """Draw a legal action uniformly."""
    return view.choices.sample(key)


class EpisodePosition(NamedTuple):
    """A position of an episode and the move that led there."""

    state: State[Any]
    transcript: PlayedPath
    result: RoundResult | None = None

    @property
    def dice(self) -> Key:
        """Draws of a check, apart from the game's own."""
        return self.transcript.key.at("check", len(self.transcript.actions))


@dataclass
class VerifiedGame:
    """A game under verification."""

    game: Game[Any]
    episodes: int
    key: Key
    player: Chooser = at_random
    only: tuple[Key, ...] = ()
    """Keys of the only tables; empty for as many as there are episodes."""
    script: tuple[Actions, ...] = ()
    """Actions that are played first, where they are legal."""
    latest: PlayedPath = field(init=False)
    """Latest position of the walk in progress, for the report of an unexpected exception."""

    def __post_init__(self) -> None:
        self.latest = PlayedPath(self.key)

    def tables(self, kind: str = "episode", number: int | None = None) -> Iterator[Key]:
        """Keys of the tables."""
        if self.only:
            return iter(self.only)
        return (self.key.at(kind, n) for n in range(number or self.episodes))

    def joint(self, state: State[Any], key: Key) -> dict[Seat, str | None]:
        """Return an action for each seat to act."""
        return {seat: self.player(state.view(seat), key.at("seat", seat)) for seat in state.to_act}

    def walk(self, key: Key, *, silence: float = 0.0) -> Iterator[EpisodePosition]:
        """Walk an episode from its first position to its last; a seat is silent with probability `silence`."""
        self.latest = transcript = PlayedPath(key)
        state = self.game.start(key)
        yield EpisodePosition(state, transcript)
        while not state.over:
            player_key = key.at("player", len(transcript.actions))
            actions = self._script_actions(state, len(transcript.actions)) or self.joint(state, player_key)
            for seat in actions:
                if silence and player_key.at("silent", seat).unit() < silence:
                    actions[seat] = None
            transcript = transcript.then(actions)
            self._count(transcript)
            yield EpisodePosition(state, transcript, self._play_actions(state, actions))

    def _script_actions(self, state: State[Any], number: int) -> dict[Seat, str | None]:
        """Return the actions that the script has for a move; empty where they cannot be played."""
        actions = dict(self.script[number]) if number < len(self.script) else {}
        is_legal = set(actions) == set(state.to_act) and all(
            action is None or action in state.view(seat).choices for seat, action in actions.items()
        )
        return actions if is_legal else {}

    def _play_actions(self, state: State[Any], actions: Actions) -> RoundResult:
        try:
            return state.play(actions)
        except IllegalAction as error:
            raise RefusedAction(f"legal actions were refused: {error}", self.latest) from error

    def _count(self, transcript: PlayedPath) -> None:
        self.latest = transcript
        if len(transcript.actions) > MOVES:
            raise Endless(f"the episode has not ended after {MOVES} moves", PlayedPath(transcript.key))

    def closer(self, key: Key) -> Iterator[EpisodePosition]:
        """Yield some positions of an episode: the first three, the last, and a few between them."""
        looked = 0
        for here in self.walk(key):
            number = len(here.transcript.actions)
            if here.state.over or number < 3 or (looked < _CLOSER and here.dice.at("closer").integer(4) == 0):
                looked += 1
                yield here

    def play_out(self, state: State[Any], key: Key) -> list[tuple[Actions, RoundResult]]:
        """Play to the end and return the moves and their results."""
        done: list[tuple[Actions, RoundResult]] = []
        while not state.over:
            actions = self.joint(state, key.at("on", len(done)))
            done.append((actions, state.play(actions)))
            if len(done) > MOVES:
                raise Endless(f"from here the episode has not ended after {MOVES} moves", self.latest)
        return done


def content_of(view: View[Any], *, acting: bool) -> dict[str, Any]:
    """Return the whole content of a view."""
    return {
        "facts": view.facts,
        "state_key": view.state_key,
        "info_key": view.info_key,
        "rules": view.rules,
        "situation": view.situation,
        "choices": list(islice(view.choices, _LISTED)) if acting else None,
    }


def all_shown(state: State[Any]) -> list[dict[str, Any]]:
    """Return the content of every seat's view."""
    return [content_of(state.view(seat), acting=seat in state.to_act) for seat in range(state.game.spec.seats)]


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Return the first difference between two views; empty where they agree."""
    for name, value in ours.items():
        if value != theirs[name]:
            return f"{name}: {value!r} against {theirs[name]!r}"
    return ""


def first_difference(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    """Return the first seat whose views differ, with the difference."""
    for seat, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if unlike := difference(mine, other):
            return f"seat {seat} is shown other {unlike}"
    return ""


def every_episode(case: VerifiedGame, look: Callable[[VerifiedGame, Key], object]) -> str:
    """Check each episode; of the faults found, raise the one with the fewest moves."""
    faults = []
    for key in case.tables():
        try:
            look(case, key)
        except (Endless, NotApplicable):
            raise
        except BrokenRule as fault:
            faults.append(fault)
        except BadParameter as error:
            faults.append(BrokenRule(str(error), case.latest))
        except Exception as error:  # noqa: BLE001 - whatever the rules under test raise is a finding
            faults.append(BrokenRule(describe_error(error, case.game), case.latest))
    if faults:
        raise min(faults, key=lambda fault: fault.size)
    return f"{case.episodes} episodes"
