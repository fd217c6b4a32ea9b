"""Checks of a safety when it is made, and of its yardsticks where they are read: one sentence for each mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.options import is_number, whole
from stratagem.games.base import Game, Seat, Stakes, State
from stratagem.games.safety.base import POOLS, Safety, Weights


def checked_safety(safety: object, game: Game[Any]) -> Safety[Any]:
    """Return the safety of a game; a part of a wrong type is refused here, before its first use."""
    name = game.spec.name
    if not isinstance(safety, Safety):
        raise BadParameter(f"The safety of {name} is a {type(safety).__name__}: it must be a subclass of Safety.")
    _check_pools(safety.pools, name)
    _check_demonstrators(safety.demonstrators, name)
    whole(f"The safety of {name}", "demonstration_episodes", safety.demonstration_episodes, 1)
    _check_signals(safety.signal_names, name)
    if not isinstance(safety.weights, Weights) or not all(is_number(w) and w >= 0.0 for w in safety.weights):
        raise BadParameter(
            f"The safety of {name} has the weights {safety.weights!r}: they must be Weights of numbers >= 0."
        )
    return safety


def _check_pools(pools: object, name: str) -> None:
    if not isinstance(pools, Mapping):
        raise BadParameter(f"The safety of {name} has the pools {pools!r}: they must be a dict of tuples by pool.")
    for pool, players in pools.items():
        if pool not in POOLS:
            raise BadParameter(f"The safety of {name} has a pool {pool!r}: the pools are {', '.join(POOLS)}.")
        if not isinstance(players, tuple) or not all(isinstance(player, str) for player in players):
            raise BadParameter(f"The pool {pool} of {name} is {players!r}: it must be a tuple of names of players.")


def _check_demonstrators(weights: object, name: str) -> None:
    if not isinstance(weights, Mapping):
        raise BadParameter(f"The demonstrators of {name} are {weights!r}: they must be a dict of weights by player.")
    for player, weight in weights.items():
        if not isinstance(player, str) or not is_number(weight) or weight < 0.0:
            raise BadParameter(
                f"The demonstrators of {name} cannot have {player!r} with the weight {weight!r}: a weight is a number "
                "of at least 0."
            )


def _check_signals(names: object, name: str) -> None:
    if not isinstance(names, tuple) or not all(isinstance(signal, str) for signal in names):
        raise BadParameter(f"The signal names of {name} are {names!r}: they must be a tuple of texts.")


def checked_stakes(safety: Safety[Any], state: State[Any], seat: Seat) -> Stakes | None:
    """Return the yardsticks of a seat; refused unless payoffs can be divided by that of cooperation."""
    stakes: object = safety.stakes(state, seat)
    if stakes is None:
        return None
    if isinstance(stakes, Stakes) and is_number(stakes.cooperative) and is_number(stakes.passive) and stakes[0] > 0.0:
        return stakes
    raise BadParameter(
        f"The yardsticks of seat {seat} of {state.game.spec.name} are {stakes!r}: they must be Stakes with "
        "`cooperative` above 0 and a number `passive`, or None."
    )
