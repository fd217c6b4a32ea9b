"""Monte Carlo tree search (Kocsis and Szepesvari 2006), by OpenSpiel in C++."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.errors import BadParameter, CannotCompute
from stratagem.games.base import Game, Twin, View
from stratagem.options import whole
from stratagem.players.base import Ask, Move, Traits

_EXPLORATION = 2.0
_MEMORY_MB = 1000


@dataclass(frozen=True, kw_only=True)
class MCTS:
    """Searches with random rollouts from the true state, and plays the action that looks best.

    Where cards are hidden it sees them: the tree starts at the state as it is, not as its seat knows it. There it is
    a strong cheat, good for measuring and no opponent to learn from.
    """

    simulations: int = 100
    """Number of rollouts a decision."""
    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None, sees_hidden=True, exact=False)

    def __post_init__(self) -> None:
        whole("mcts", "simulations", self.simulations, 1)

    @property
    def name(self) -> str:
        return f"mcts:{self.simulations}"

    def turn(self, ask: Ask) -> Move:
        twin = self._twin(ask.view.game)
        node = twin.node(ask.peek())
        return Move(twin.action(node, self._bot(twin, ask).step(node)))

    def policy(self, view: View[Any]) -> Mapping[str, float]:
        raise CannotCompute(f"{self.name} samples a search: its probabilities can be counted, not computed.")

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that cannot be searched, before it is played."""
        self._twin(game)

    def _twin(self, game: Game[Any]) -> Twin:
        if game.spec.simultaneous:
            raise BadParameter(f"{self.name} cannot play {game.spec.name}: it searches games of turns only.")
        twin = game.twin()
        if twin is None:
            raise BadParameter(f"{self.name} cannot play {game.spec.name}, which OpenSpiel does not know.")
        return twin

    def _bot(self, twin: Twin, ask: Ask) -> Any:
        """Return a new bot with the seat's own draws, so that a decision depends on nothing but its state and key."""
        import pyspiel

        key = ask.key
        rollouts = pyspiel.RandomRolloutEvaluator(1, key.at("rollouts").integer(1 << 31))
        seed = key.at("search").integer(1 << 31)
        try:
            return pyspiel.MCTSBot(twin.spiel, rollouts, _EXPLORATION, self.simulations, _MEMORY_MB, True, seed, False)
        except RuntimeError as error:
            raise CannotCompute(f"{self.name} cannot play {ask.view.game.spec.name}: it pays on the way.") from error


def positive(tail: str, family: str) -> int:
    """Read the whole number after a family's colon, as in `mcts:100`."""
    if not tail.strip().isdecimal() or int(tail) < 1:
        raise BadParameter(f"{family} wants a whole number of at least 1 after its colon, such as {family}:100.")
    return int(tail)


def mcts(tail: str) -> MCTS:
    """Make the player `mcts:TAIL`."""
    return MCTS(simulations=positive(tail, "mcts"))
