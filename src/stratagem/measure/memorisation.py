"""Play in other words: a player's matchups under disguises, on the deals that it plays in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.disguise import Disguise, prove
from stratagem.measure.matchups import Evaluator, Matchup
from stratagem.players.base import Player
from stratagem.players.disguised import Disguised, disguise_player
from stratagem.players.wrappers import Delayed, Noisy, check_player

Wrap = Callable[[Player], Player]
POOLS = ("train", "opponents")
"""Pools whose opponents the gap is measured against, as the payoff is."""
_MOST = 1000


@dataclass(frozen=True)
class OtherWords:
    """One disguise of a player, and its matchups."""

    player: str
    matchups: tuple[Matchup, ...]
    proof: str = ""
    """Extent of the check that the game is the same."""


def wraps(text: str) -> list[Wrap]:
    """Return the disguises that a text names: so many generated ones, or that of a file."""
    if text.strip() and not text.lstrip("-").isdecimal():
        return [partial(disguise_player, file=text)]
    if not text.strip() or len(text) > len(str(_MOST)) or not 0 < int(text) <= _MOST:
        raise BadParameter(f"`disguise=` needs a number of disguises from 1 to {_MOST}, or a file, not {text!r}.")
    return [partial(disguise_player, seed=seed) for seed in range(1, int(text) + 1)]


def check_wraps(game: Game[Any], players: Sequence[Player], disguises: Sequence[Wrap]) -> None:
    """Refuse a game that has no other words, and a player that cannot be played in them."""
    for player in players:
        for wrap in disguises:
            one = wrap(player)
            check_player(one, game)
            proof_of(game, one)


def in_other_words(
    game: Game[Any],
    agent: Player,
    opponents: Sequence[tuple[Player, Sequence[str]]],
    disguises: Sequence[Wrap],
    evaluator: Evaluator,
    plain: Sequence[Matchup],
) -> tuple[OtherWords, ...]:
    """Play the agent under each disguise, against the opponents that count for its payoff.

    Exact expectations are not tried where `plain`, the matchups in plain words, has none: a gap is exact or sampled.
    """
    if not all(matchup.expectations for matchup in plain if set(matchup.pools) & set(POOLS)):
        evaluator = replace(evaluator, budget=0)
    counted = [(player, pools) for player, pools in opponents if set(pools) & set(POOLS)]
    agents = [wrap(agent) for wrap in disguises]
    over = evaluator.meet(game, [(one, player, pools) for one in agents for player, pools in counted])
    size = len(counted)
    return tuple(
        OtherWords(one.name, tuple(over[place * size : (place + 1) * size]), proof_of(game, one))
        for place, one in enumerate(agents)
    )


def proof_of(game: Game[Any], player: Player) -> str:
    """Return the extent of the proof that a disguised player's game is the game; refused where it is not."""
    while isinstance(player, Noisy | Delayed):
        player = player.player
    return _prove_disguise(player.disguise(game), game) if isinstance(player, Disguised) else ""


@lru_cache(maxsize=256)
def _prove_disguise(disguise: Disguise, game: Game[Any]) -> str:
    return str(prove(disguise, game))
