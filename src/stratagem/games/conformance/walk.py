"""Random episodes for the checks: every position with the way to it, and what the seats are shown there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from stratagem.errors import IllegalAction
from stratagem.games.base import Game, RoundResult, Seat, State, View
from stratagem.games.conformance.report import Actions, Broken, Endless, NotApplicable, Refused, Transcript
from stratagem.games.key import Key

MOVES = 3000
"""An episode that takes more moves is taken to have no end."""
_CLOSER = 8
"""How many positions of an episode are looked at closely."""
_LISTED = 500
"""How many of a position's choices are compared."""

Chooser = Callable[[View[Any], Key], str]


def at_random(view: View[Any], key: Key) -> str:
    """Any legal action, all equally likely."""
    return view.choices.sample(key)


class Position(NamedTuple):
    """Where an episode stands, and the move that led there."""

    state: State[Any]
    transcript: Transcript
    result: RoundResult | None = None

    @property
    def dice(self) -> Key:
        """Draws of a check, apart from the game's own."""
        return self.transcript.key.at("check", len(self.transcript.actions))


@dataclass
class Case:
    """A game under verification."""

    game: Game[Any]
    episodes: int
    key: Key
    player: Chooser = at_random
    latest: Transcript = field(init=False)
    """Where the walk in progress stands, for the report of an exception that nobody expected."""

    def __post_init__(self) -> None:
        self.latest = Transcript(self.key)

    def tables(self, kind: str = "episode", number: int | None = None) -> Iterator[Key]:
        """The keys of the tables."""
        return (self.key.at(kind, n) for n in range(number or self.episodes))

    def joint(self, state: State[Any], dice: Key) -> dict[Seat, str | None]:
        """An action for each seat to act."""
        return {seat: self.player(state.view(seat), dice.at("seat", seat)) for seat in state.to_act}

    def walk(self, key: Key, *, silence: float = 0.0) -> Iterator[Position]:
        """An episode from its first position to its last; seats say nothing as often as `silence` tells."""
        self.latest = transcript = Transcript(key)
        state = self.game.start(key)
        yield Position(state, transcript)
        while not state.over:
            dice = key.at("player", len(transcript.actions))
            actions = self.joint(state, dice)
            for seat in actions:
                if silence and dice.at("silent", seat).unit() < silence:
                    actions[seat] = None
            transcript = transcript.then(actions)
            self._count(transcript)
            yield Position(state, transcript, self._played(state, actions))

    def _played(self, state: State[Any], actions: Actions) -> RoundResult:
        try:
            return state.play(actions)
        except IllegalAction as error:
            raise Refused(f"legal actions were refused: {error}", self.latest) from error

    def _count(self, transcript: Transcript) -> None:
        self.latest = transcript
        if len(transcript.actions) > MOVES:
            raise Endless(f"the episode has not ended after {MOVES} moves", Transcript(transcript.key))

    def closer(self, key: Key) -> Iterator[Position]:
        """Some positions of an episode: the first three, the last, and a few between them."""
        looked = 0
        for here in self.walk(key):
            number = len(here.transcript.actions)
            if here.state.over or number < 3 or (looked < _CLOSER and here.dice.at("closer").integer(4) == 0):
                looked += 1
                yield here

    def play_out(self, state: State[Any], dice: Key) -> list[tuple[Actions, RoundResult]]:
        """Play to the end; what was played and what came of it."""
        done: list[tuple[Actions, RoundResult]] = []
        while not state.over:
            actions = self.joint(state, dice.at("on", len(done)))
            done.append((actions, state.play(actions)))
            if len(done) > MOVES:
                raise Endless(f"from here the episode has not ended after {MOVES} moves", self.latest)
        return done


def shown(view: View[Any], *, acting: bool) -> dict[str, Any]:
    """All that a view shows."""
    return {
        "facts": view.facts,
        "state_key": view.state_key,
        "info_key": view.info_key,
        "rules": view.rules,
        "situation": view.situation,
        "choices": list(islice(view.choices, _LISTED)) if acting else None,
    }


def all_shown(state: State[Any]) -> list[dict[str, Any]]:
    """What every seat is shown."""
    return [shown(state.view(seat), acting=seat in state.to_act) for seat in range(state.game.spec.seats)]


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """The first thing that two views do not show alike; empty where they agree."""
    for name, value in ours.items():
        if value != theirs[name]:
            return f"{name}: {value!r} against {theirs[name]!r}"
    return ""


def first_difference(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    """The first seat whose views differ, and where."""
    for seat, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if found := difference(mine, other):
            return f"seat {seat} is shown other {found}"
    return ""


def every_episode(case: Case, look: Callable[[Case, Key], object]) -> str:
    """Look at each episode; of the faults found, the one that takes the fewest moves to see is raised."""
    faults = []
    for key in case.tables():
        try:
            look(case, key)
        except (Endless, NotApplicable):
            raise
        except Broken as fault:
            faults.append(fault)
        except Exception as error:  # noqa: BLE001 - whatever the rules under test raise is a finding
            faults.append(Broken(f"raised {type(error).__name__}: {error}", case.latest))
    if faults:
        raise min(faults, key=lambda fault: fault.size)
    return f"{case.episodes} episodes"
