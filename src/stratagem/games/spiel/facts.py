"""Knowledge of one seat of an OpenSpiel game, computed on demand.

The engine's state is kept privately; every public attribute is what OpenSpiel itself shows this seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Node, Seat
from stratagem.games.choices import Flat
from stratagem.games.spec import GameSpec
from stratagem.games.spiel.engine import TERMINAL, SpielEngine
from stratagem.games.spiel.history import observations_of, replay


class LegalMenu(NamedTuple):
    """The legal actions of a position: the choices, and the engine's number of each."""

    choices: Flat
    ids: dict[str, int]

    def name(self, action: int) -> str:
        """Return our name for one of the engine's numbers."""
        return next(name for name, number in self.ids.items() if number == action)


def menu_of(names: Sequence[str], ids: Sequence[int]) -> LegalMenu:
    """Make a menu from the names and numbers of the legal actions, in the same order."""
    return LegalMenu(Flat(names), dict(zip(names, ids, strict=True)))


class FactsGame(Protocol):
    """Part of a game that its facts ask for."""

    @property
    def engine(self) -> SpielEngine:
        """The loaded game."""
        ...

    @property
    def spec(self) -> GameSpec:
        """Declared facts of the game."""
        ...

    def menu(self, node: Node, seat: Seat) -> LegalMenu:
        """Return the legal actions of `seat` at `node`."""
        ...


class SpielFacts:
    """A seat's side of a position."""

    __slots__ = ("_game", "_menu", "_node", "seat")

    def __init__(self, game: FactsGame, node: Node, seat: Seat) -> None:
        self._game = game
        self._node = node
        self._menu: LegalMenu | None = None
        self.seat = seat

    @property
    def menu(self) -> LegalMenu:
        """The legal actions, by our names and by the engine's numbers."""
        menu = self._menu
        if menu is None:
            menu = self._menu = self._game.menu(self._node, self.seat)
        return menu

    @property
    def over(self) -> bool:
        """True if the game has been played to its end."""
        return bool(self._node.current_player() == TERMINAL)

    @property
    def to_act(self) -> bool:
        """True if this seat must choose now."""
        return bool(self._node.legal_actions(self.seat))

    @property
    def observation(self) -> str:
        """Observation of the seat now, in the engine's words."""
        engine = self._game.engine
        if engine.says_observation:
            return str(self._node.observation_string(self.seat))
        return str(self._node) if engine.perfect else self.information

    @property
    def information(self) -> str:
        """Information state of the seat in the engine's words; a history where the engine has none."""
        engine = self._game.engine
        if engine.says_information:
            return str(self._node.information_state_string(self.seat))
        if engine.perfect:
            return str(self._node.history_str())
        return "\n".join(observations_of(replay(engine, self._node.history()), self.seat))

    @property
    def moves(self) -> list[tuple[Seat, int | None]]:
        """Moves so far with who made them, -1 for chance; None for a move that the seat's information does not tell."""
        node, known = self._game.engine.spiel.new_initial_state(), list[tuple[Seat, int | None]]()
        for move in self._node.full_history():
            told = {str(node.child(one).information_state_string(self.seat)) for one in node.legal_actions()}
            tells = len(told) == len(node.legal_actions()) and str(node.information_state_string(self.seat)) not in told
            known.append((move.player, move.action if tells else None))
            node.apply_action(move.action)
        return known

    @property
    def tensor(self) -> list[float]:
        """Information state of the seat as the engine's flat tensor; its observation where there is none of those."""
        if self._game.engine.spiel.get_type().provides_information_state_tensor:
            return list(self._node.information_state_tensor(self.seat))
        return list(self._node.observation_tensor(self.seat))

    @property
    def state_key(self) -> str:
        """The board and who moves, where nothing is hidden; else what the seat observes now.

        An observation may leave out even the seat's own sealed bid, and a board the positions before it. So games that
        hide things, and those whose boards are not known to tell everything, declare `markov` false.
        """
        if self._game.engine.perfect:
            return f"{self._node.current_player()}: {self._node}"
        return self.observation

    def position(self) -> Node:
        """Return the engine's state itself, for solvers; only where nothing is hidden."""
        if not self._game.engine.perfect:
            raise CannotCompute(f"A view of {self._game.spec.name} holds no full position: the game hides things.")
        return self._node.clone()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpielFacts) and self._shown_state() == other._shown_state()

    def __hash__(self) -> int:
        return hash(self._shown_state())

    def __repr__(self) -> str:
        return f"SpielFacts(seat={self.seat}, information={self.information!r})"

    def _shown_state(self) -> tuple[FactsGame, Seat, str, str, bool]:
        return self._game, self.seat, self.information, self.observation, self.to_act
