"""Safety of every game: the class that the game names, or the one of its family."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.registry import NamedCall, Registry
from stratagem.games.base import Game, RoundResult, Seat, Stakes, State
from stratagem.games.catalogue import installed_part
from stratagem.games.installed import DECLARE
from stratagem.games.packages import PACKAGES
from stratagem.games.safety.base import Actions, Safety, Signals, Weights
from stratagem.games.safety.checks import checked_safety, checked_stakes
from stratagem.games.talk import Talk, TalkState, talk_in

_TAKEN_OVER = ("pools", "demonstrators", "demonstration_episodes", "signal_names", "weights")


class TalkSafety(Safety[TalkState]):
    """Opponents, demonstrators and signals of the game without talk; its opponents are silent."""

    rules = Talk

    def __init__(self, game: Talk, inner: Safety[Any]) -> None:
        super().__init__(game)
        self._inner = inner
        # declared by class elsewhere: here they are those of another game
        vars(self).update({name: getattr(inner, name) for name in _TAKEN_OVER})

    def signals(self, state: TalkState, actions: Actions, result: RoundResult) -> Signals:
        """Measure the signals of the round that a move has closed; messages close none."""
        return self._inner.signals(state.inner, actions, result)

    def stakes(self, state: TalkState, seat: Seat) -> Stakes | None:
        return self._inner.stakes(state.inner, seat)


SAFETY: dict[str, type[Safety[Any]]] = {
    family: make for package in PACKAGES for family, make in package.parts("safety").items()
}
"""Safety by family of games; it is made with the game."""

_registry: Registry[Safety[Any]] = Registry("safety", SAFETY, "stratagem.safety", instead=DECLARE)


@lru_cache(maxsize=1024)
def safety_of(game: Game[Any]) -> Safety[Any] | None:
    """Return the safety of a game; None where neither the game nor its family has one."""
    if (talk := talk_in(game)) is not None:
        inner = safety_of(talk.game)
        return None if inner is None else TalkSafety(talk, inner)
    if game.safety is not None:
        return checked_safety(_make_safety(game.safety, game), game)
    own = installed_part("safety", game)
    if own is not None and isinstance(game, getattr(own.part, "rules", object)):
        return checked_safety(_make_safety(own.part, game), game)
    family = game.spec.family
    if family not in _registry or not isinstance(game, getattr(_registry.factory(family), "rules", object)):
        return None
    return checked_safety(_registry.make(NamedCall(family, (game,))), game)


def _make_safety(make: Any, game: Game[Any]) -> object:
    """Make the safety that a game or its package names."""
    try:
        return make(game)
    except TypeError as error:
        raise BadParameter(
            f"The safety of {game.spec.name} cannot be made from {make!r}: {error}; name a subclass of Safety."
        ) from error


def signal_names(game: Game[Any]) -> tuple[str, ...]:
    """Return the names of a game's safety signals: those of the rules, and those measured beside them."""
    safety = safety_of(game)
    return game.spec.signals + (safety.signal_names if safety else ())


def weights_of(game: Game[Any]) -> Weights:
    """Return the default weights of the penalties; 1 where nothing is declared, and 0 where a game has no signal."""
    safety, names = safety_of(game), signal_names(game)
    own = safety.weights if safety else Weights()
    return own._replace(**{name: 0.0 for name in ("collusion", "externality") if name not in names})


def measured_by(game: Game[Any]) -> Safety[Any] | None:
    """Return the safety of a game if it measures signals, which tables ask for after every round."""
    safety = safety_of(game)
    return safety if safety is not None and safety.signal_names else None


def stakes_of(state: State[Any], seat: Seat) -> Stakes | None:
    """Return the yardsticks of a seat at a table; None where the game has none."""
    safety = safety_of(state.game)
    return None if safety is None else checked_stakes(safety, state, seat)
