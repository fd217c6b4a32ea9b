"""An environment as a game: its states are a seed and the actions since, played again where they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute, IllegalAction
from stratagem.games.base import Game, RoundResult, Seat, State, View, pending
from stratagem.games.choices import Flat
from stratagem.games.foreign.environment import Environment
from stratagem.games.foreign.translations import Translation, name_actions, new_node
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec

_SEEDS = 2**31 - 1
"""Seeds of 31 bits are positive also in an environment that stores them as signed numbers of 32 bits."""
_LONGEST = 200
"""Number of characters of a refusal, whose end says why."""


class ForeignFacts(NamedTuple):
    """Texts that an environment shows a seat, and the legal actions."""

    seat: Seat
    shown: str
    legal: tuple[str, ...]


class ForeignState(State[ForeignFacts]):
    """An episode of an environment."""

    state_fields = ("seed", "moves")

    def __init__(self, game: ForeignGame, chance: Chance) -> None:
        super().__init__(game, chance)
        self.game: ForeignGame = game
        self.seed = 0
        self.moves: tuple[str, ...] = ()
        self._running: Environment | None = None

    def begin(self) -> None:
        self.seed = self.chance.at("seed").integer(_SEEDS)
        self._turn()

    @property
    def running(self) -> Environment:
        """The environment in this position, reset by a fork."""
        if self._running is None:
            self._running = self.game.make_environment()
            self._running.reset(self.seed)
            for move in self.moves:
                self._running.step(move)
        return self._running

    def view(self, seat: Seat) -> View[ForeignFacts]:
        acting = seat in self.to_act
        legal = self.game.legal(self) if acting else ()
        return View(self.game, seat, ForeignFacts(seat, self.running.shown(seat), legal))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if set(actions) != set(self.to_act) or None in actions.values():
            raise self.refuse(actions)
        ((seat, action),) = actions.items()
        assert action is not None
        if reason := self.running.step(action):
            self._running = None
            said = " ".join(reason.split())[-_LONGEST:]
            raise IllegalAction(f"{self.game.name} refuses {action!r} of seat {seat}: {said}")
        self.moves += (action,)
        self._turn()
        return RoundResult(self.running.payoffs) if self.over else pending(self.game.spec.seats)

    def _turn(self) -> None:
        seat = self.running.to_act
        self.over, self.to_act = seat is None, () if seat is None else (seat,)


@dataclass(frozen=True)
class ForeignGame(Game[ForeignFacts]):
    """An environment of another package, as far as it can be seen as a game."""

    state = ForeignState
    name: str
    make: Callable[..., Environment] = field(compare=False)
    translation: Translation | None = field(default=None, compare=False)
    options: tuple[tuple[str, Any], ...] = ()

    def make_environment(self) -> Environment:
        """Make the environment."""
        return self.make(**dict(self.options))

    @property
    def as_translated(self) -> ForeignGame:
        """The environment with the options with which it is OpenSpiel's game."""
        return self if self.translation is None else replace(self, options=tuple(self.translation.options.items()))

    @cached_property
    def spec(self) -> GameSpec:
        env = self.make_environment()
        env.reset(0)
        return GameSpec(
            name=self.name,
            family=self.name,
            summary="An environment of another package.",
            seats=env.seats,
            simultaneous=False,
            utility="general-sum",
            rounds=None,
            bounds=(-float("inf"), float("inf")),
            chance=self._has_chance,
            private_information=True,
            markov=False,
            symmetric=False,
            on_illegal="forfeit",
        )

    @property
    def _has_chance(self) -> bool:
        """True if OpenSpiel's game deals or draws; what has no counterpart there declares nothing."""
        if self.translation is None:
            return False
        return bool(new_node(self.translation).is_chance_node())

    def legal(self, state: ForeignState) -> tuple[str, ...]:
        """Return the legal actions that the environment says, or else those of OpenSpiel's game."""
        if listed := state.running.legal():
            return listed
        if self.translation is None:
            raise CannotCompute(f"{self.name} does not say which actions are legal, and its game is in no table.")
        node = new_node(self.translation)
        for move in state.moves:
            node.apply_action(name_actions(self.translation, node)[move])
        return tuple(name_actions(self.translation, node))

    def choices(self, facts: ForeignFacts) -> Flat:
        return Flat(facts.legal)

    def rules(self, seat: Seat) -> str:
        return ""

    def situation(self, facts: ForeignFacts) -> str:
        return facts.shown

    def info_key(self, facts: ForeignFacts) -> str:
        return facts.shown
