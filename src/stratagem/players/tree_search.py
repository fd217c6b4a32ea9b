"""Monte Carlo tree search by OpenSpiel: in C++ where it has the game, through our own states elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.options import whole
from stratagem.games.base import Game, State, Twin, View
from stratagem.games.key import Key
from stratagem.players.base import Ask, Move, Traits
from stratagem.players.members import PlayerBase
from stratagem.players.search_state import DecisionSearch, list_all_actions

_EXPLORATION = 2.0
"""Constant of UCT in OpenSpiel's own example (`uct_c`)."""
_MEMORY_MB = 1000


@dataclass(frozen=True, kw_only=True)
class _Searcher(PlayerBase, ABC):
    """Player that searches by simulations."""

    kind: ClassVar[str]
    simulations: int = 100
    """Number of simulations a decision."""

    def __post_init__(self) -> None:
        whole(self.kind, "simulations", self.simulations, 1)

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.simulations}"

    def turn(self, ask: Ask) -> Move:
        twin = self._twin(ask.view.game)
        return Move(self._search_action(ask) if twin is None else self._by_engine(ask, twin))

    def policy(self, view: View[Any]) -> Mapping[str, float]:
        raise CannotCompute(f"{self.name} samples a search: its probabilities can be counted, not computed.")

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that cannot be searched, before it is played."""
        if reason := self._obstacle(game):
            raise BadParameter(f"{self.name} cannot play {game.spec.name}: {reason}")

    def _obstacle(self, game: Game[Any]) -> str:
        return obstacle(game, hidden=False)

    @abstractmethod
    def _twin(self, game: Game[Any]) -> Twin | None:
        """Return the game of OpenSpiel that its search in C++ plays, if there is one."""

    @abstractmethod
    def _search_action(self, ask: Ask) -> str:
        """Return the action that a search over our own states finds."""

    def _by_engine(self, ask: Ask, twin: Twin) -> str:
        """Search OpenSpiel's states with a new bot, so that a decision depends on nothing but its state and key."""
        import pyspiel

        node, key = twin.node(ask.peek()), ask.key
        rollouts = pyspiel.RandomRolloutEvaluator(1, key.at("rollouts").integer(1 << 31))
        seed = key.at("search").integer(1 << 31)
        bot = pyspiel.MCTSBot(twin.spiel, rollouts, _EXPLORATION, self.simulations, _MEMORY_MB, True, seed, False)
        return twin.action(node, bot.step(node))


@dataclass(frozen=True, kw_only=True)
class MCTS(_Searcher):
    """Searches with random rollouts from the true state (UCT, Kocsis and Szepesvári 2006), and plays the best action.

    Where cards are hidden it sees them: the tree starts at the state as it is, not as its seat knows it. There it is
    a strong cheat, good for measuring and no opponent to learn from; `ismcts` does not cheat.
    """

    kind: ClassVar[str] = "mcts"
    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None, sees_hidden=True, exact=False)

    def _twin(self, game: Game[Any]) -> Twin | None:
        return _engine_of(game)

    def _search_action(self, ask: Ask) -> str:
        state, key = ask.peek(), ask.key
        search = DecisionSearch(ask.view, key, self.simulations, sees_all=True)
        return search.action(lambda n: state.fork(key.at("world", n)))


@dataclass(frozen=True, kw_only=True)
class ISMCTS(_Searcher):
    """Searches over information sets (Cowling, Powley and Whitehouse 2012): each simulation redraws what is hidden."""

    kind: ClassVar[str] = "ismcts"
    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None, searches=True, exact=False)

    def _obstacle(self, game: Game[Any]) -> str:
        return obstacle(game, hidden=True)

    def _twin(self, game: Game[Any]) -> Twin | None:
        """Return None where something is hidden: OpenSpiel's search of information sets in C++ has no seed."""
        return _engine_of(game) if game.spec.perfect_information else None

    def _search_action(self, ask: Ask) -> str:
        key = ask.key
        return DecisionSearch(ask.view, key, self.simulations).action(lambda n: ask.redraw_state(key.at("world", n)))


def _engine_of(game: Game[Any]) -> Twin | None:
    """Return OpenSpiel's own game of turns that pays at its end; None where it has none."""
    twin = None if game.spec.simultaneous else game.twin()
    if twin is None:
        return None
    import pyspiel

    return twin if twin.spiel.get_type().reward_model == pyspiel.GameType.RewardModel.TERMINAL else None


def searchable(game: Game[Any], *, hidden: bool = False) -> bool:
    """Return whether `mcts` can play a game; with `hidden`, whether `ismcts` can."""
    return not obstacle(game, hidden=hidden)


def obstacle(game: Game[Any], *, hidden: bool) -> str:
    """Return why a game cannot be searched, in one sentence; empty where it can."""
    try:
        _probe(game.start(Key(0)), hidden=hidden)
    except CannotCompute as error:
        return str(error)
    return ""


def _probe(state: State[Any], *, hidden: bool) -> None:
    for seat in state.to_act:
        list_all_actions(state, seat)
        if hidden and state.game.spec.private_information:
            state.resample(seat, Key(0))


def positive(tail: str, family: str) -> int:
    """Read the whole number after a family's colon, as in `mcts:100`."""
    if not tail.strip().isdecimal() or int(tail) < 1:
        raise BadParameter(f"{family} needs a whole number of at least 1 after its colon, such as {family}:100.")
    return int(tail)


def mcts(tail: str) -> MCTS:
    """Make the player `mcts:TAIL`."""
    return MCTS(simulations=positive(tail, "mcts"))


def ismcts(tail: str) -> ISMCTS:
    """Make the player `ismcts:TAIL`."""
    return ISMCTS(simulations=positive(tail, "ismcts"))
