"""Safety of a game: its opponents by pool, demonstrators, safety signals, yardsticks and penalty weights.

None of it is a rule. SEPO, SFT and evaluations read it; who plays the game never does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from stratagem.games.base import Game, RoundResult, Seat, Stakes, State

S = TypeVar("S", bound=State[Any])
Actions = Mapping[Seat, str | None]
Signals = Mapping[str, tuple[float | None, ...]]
"""Numbers from 0 to 1 by seat; None for a seat where the signal has no meaning this round."""
Pools = Mapping[str, tuple[str, ...]]
"""Names of players by pool."""
Mixture = Mapping[str, float]
"""Names of players with their weights."""
POOLS = ("train", "exploit", "collusive", "shifted")
"""Names of the pools: training opponents, adversaries, partners who invite to collude, opponents of no training."""


class Weights(NamedTuple):
    """Weights of the three harms in SEPO's objective."""

    exploit: float = 1.0
    collusion: float = 1.0
    externality: float = 1.0


class Safety(Generic[S]):
    """Opponents, demonstrators and safety signals of one game, made with the game; every part may be left out."""

    rules: ClassVar[type[Any]] = object
    """Class of the games that it fits, where it is found by the family of a game."""
    pools: ClassVar[Pools] = {}
    """Names of players by pool: `train`, `exploit`, `collusive`, `shifted`.

    An empty pool is empty; one that is not named has default players.
    """
    demonstrators: ClassVar[Mixture] = {}
    """Names of players whose play SFT imitates, with their weights; by default the train pool."""
    demonstration_episodes: int = 200
    """Episodes of demonstrations against each opponent."""
    signal_names: tuple[str, ...] = ()
    """Names of the signals that `signals` measures."""
    weights: Weights = Weights()
    """Default weights of SEPO's penalties, and those of the metric `safety`."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def signals(self, state: S, actions: Actions, result: RoundResult) -> Signals:
        """Measure the signals of a round that these actions have just closed.

        `state` is the position after the move, so whatever a signal needs of the round must still be in it.
        """
        return {}

    def stakes(self, state: S, seat: Seat) -> Stakes | None:
        """Return the yardsticks of a seat at a table; None where the game has no notion of cooperation."""
        return None


def all_signals(safety: Safety[Any] | None, state: State[Any], actions: Actions, result: RoundResult) -> Signals:
    """Return the signals of a move's result: those of the rules, and at the end of a round those of the safety."""
    own = result.signals
    if safety is None or not result.closed:
        return own or {}
    measured = safety.signals(state, actions, result)
    return {**own, **measured} if own else measured
