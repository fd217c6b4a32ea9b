"""Agents of a multi-agent environment: names of seats, numbered actions, masks and observations of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np

from stratagem.base.errors import BadParameter, CannotCompute, IllegalAction, UnknownName
from stratagem.connect.observations import Observing, observing
from stratagem.connect.opponents import Opponents, opponents_of
from stratagem.connect.session import Session, match_of
from stratagem.games.all_actions import all_actions_of
from stratagem.games.base import Game, Seat, View
from stratagem.games.choices import Sheet
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.rules import SpielRules
from stratagem.players.base import Ask, Player
from stratagem.players.given import GameLike, as_game
from stratagem.playing.asking import answer_turn
from stratagem.playing.match import Match


class Choosing:
    """Choice in progress; it is complete when `take` returns the action."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self._lines: list[str] = []
        """Lines of the slots so far, empty where a slot stays empty."""

    @property
    def view(self) -> View[Any]:
        """View of the seat that chooses."""
        return self.ask.view

    @property
    def options(self) -> tuple[str, ...]:
        """Options of this step; the empty text leaves the slot empty."""
        choices = self.view.choices
        if not isinstance(choices, Sheet):
            return tuple(choices)
        slot, missing = choices.slots[len(self._lines)], choices.fill - self._filled
        spare = len(choices.slots) - len(self._lines) > missing
        return (*slot.options, "") if spare else slot.options

    @property
    def text(self) -> str:
        """Lines so far and the slot to fill, for the observation; empty where there is one step only."""
        choices = self.view.choices
        if not isinstance(choices, Sheet):
            return ""
        written = "".join(f"{line}\n" for line in self._lines if line)
        missing = choices.fill - self._filled
        return f"{written}{choices.slots[len(self._lines)].name}, {missing} to go"

    def take(self, option: str) -> str | None:
        """Take an option; return the whole action when it is complete."""
        choices = self.view.choices
        if not isinstance(choices, Sheet):
            return option
        self._lines.append(option)
        return choices.canonical(filter(None, self._lines)) if self._filled == choices.fill else None

    def option_of(self, player: Player) -> str:
        """Return the option that one of our players takes in this step."""
        action, choices = answer_turn(player.turn(self.ask)).action, self.view.choices
        if action is None or action not in choices:
            raise CannotCompute(f"{player.name} has no legal action here.")
        return choices.by_slot(action)[len(self._lines)] if isinstance(choices, Sheet) else action

    @property
    def _filled(self) -> int:
        return sum(map(bool, self._lines))


class ActionNumbers(Protocol):
    """Numbers of the actions of a game; of a sheet they are those of its lines."""

    size: int
    """Number of numbers."""

    def number_options(self, view: View[Any], options: Sequence[str]) -> Mapping[int, str]:
        """Return these options of a view by their numbers, in the same order."""
        ...


class LabelNumbers:
    """Number of an action: its index among all actions of the game."""

    def __init__(self, game: Game[Any]) -> None:
        self._labels = all_actions_of(game)
        self._numbers = {label: number for number, label in enumerate(self._labels)}
        self.size = len(self._labels)

    def number_options(self, view: View[Any], options: Sequence[str]) -> Mapping[int, str]:
        try:
            return {self._numbers[option]: option for option in options}
        except KeyError as error:
            raise BadParameter(
                f"{view.game.spec.name} offers {error.args[0]!r}, which is none of its `all_actions`: add it there."
            ) from error


class SpielNumbers:
    """Numbers of the actions of an OpenSpiel game, which are those of OpenSpiel."""

    def __init__(self, game: SpielRules) -> None:
        self.size = int(game.engine.spiel.num_distinct_actions())

    def number_options(self, view: View[SpielFacts], options: Sequence[str]) -> Mapping[int, str]:
        ids = view.facts.menu.ids
        return {ids[option]: option for option in options}


def numbers_of(game: Game[Any]) -> ActionNumbers:
    """Return the numbers of a game's actions; refused where its actions cannot be listed."""
    return SpielNumbers(game) if isinstance(game, SpielRules) else LabelNumbers(game)


_LISTED = 12
"""Number of legal actions that a refusal lists."""
MAX_LENGTH = 4096
"""Length of an observation in characters, by default."""


@dataclass(frozen=True)
class AgentTable:
    """Game with the seats of its agents and of its opponents, and the form in which agents see it."""

    match: Match
    agents: Mapping[str, Seat]
    """Seats by the names of their agents."""
    numbers: ActionNumbers
    observing: Observing

    def seat(self, agent: str) -> Seat:
        """Return the seat of an agent."""
        if agent not in self.agents:
            raise UnknownName(f"agent of {self.match.text}", str(agent), self.agents)
        return self.agents[agent]


def table_of(given: GameLike, opponents: Opponents | None, observation: str, max_length: int) -> AgentTable:
    """Return the table of a game; seats without an opponent are agents."""
    game = as_game(given)
    players = opponents_of(opponents, game)
    agents = {f"player_{seat}": seat for seat in range(game.spec.seats) if seat not in players}
    return AgentTable(match_of(game, players), agents, numbers_of(game), observing(observation, game, max_length))


class Agents:
    """Agents of an episode in progress."""

    def __init__(self, table: AgentTable, session: Session) -> None:
        self._table = table
        self.session = session
        self._choosing: dict[Seat, Choosing] = {}
        self._meet()

    @property
    def to_act(self) -> tuple[str, ...]:
        """Agents that have something to choose now, in the order of their seats."""
        return tuple(agent for agent, seat in self._table.agents.items() if seat in self._choosing)

    def legal(self, agent: str) -> Mapping[int, str]:
        """Return the legal actions by number; none where the agent has nothing to choose now."""
        choosing = self._choosing.get(self._table.seat(agent))
        return {} if choosing is None else self._table.numbers.number_options(choosing.view, choosing.options)

    def observation(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees, and the mask of its legal actions."""
        seat = self._table.seat(agent)
        choosing = self._choosing.get(seat)
        form, mask = self._table.observing, np.zeros(self._table.numbers.size, dtype=np.int8)
        mask[list(self.legal(agent))] = 1
        seen = form(self.session.view(seat), "") if choosing is None else form(choosing.view, choosing.text)
        return {form.key: seen, "action_mask": mask}

    def check(self, agent: str, number: object) -> str:
        """Return the option of a number; one that is not legal is refused."""
        legal = self.legal(agent)
        if type(number) is bool or not isinstance(number, int | np.integer) or int(number) not in legal:
            raise IllegalAction(f"{agent} cannot play {number!r} now: its legal actions are {_list_actions(legal)}.")
        return legal[int(number)]

    def act(self, agent: str, number: object) -> None:
        """Play the action of a number; one that is not legal is refused and changes nothing."""
        option, seat = self.check(agent, number), self._table.seat(agent)
        action = self._choosing[seat].take(option)
        if action is not None:
            del self._choosing[seat]
            self.session.answer(seat, action)
            self._meet()

    def number_of(self, agent: str, player: Player) -> int:
        """Return the number of the action that one of our players takes in the place of an agent."""
        choosing = self._choosing.get(self._table.seat(agent))
        if choosing is None:
            raise IllegalAction(f"{agent} has nothing to choose now: {', '.join(self.to_act) or 'nobody'} has.")
        option = choosing.option_of(player)
        return next(number for number, label in self.legal(agent).items() if label == option)

    def rewards(self) -> dict[str, float]:
        """Return the payoffs since the last call, by agent."""
        payoffs = self.session.rewards()
        return {agent: payoffs[seat] for agent, seat in self._table.agents.items()}

    def _meet(self) -> None:
        for seat, ask in self.session.asks.items():
            if seat not in self._choosing:
                self._choosing[seat] = Choosing(ask)


def _list_actions(legal: Mapping[int, str]) -> str:
    """Return some actions with their numbers, and the number of the others."""
    shown = ", ".join(f"{number} {label!r}" for number, label in islice(legal.items(), _LISTED))
    return f"{shown} and {len(legal) - _LISTED} more" if len(legal) > _LISTED else shown or "none"
