"""Pools of opponents for training and evaluation (SEPO), and demonstrators for SFT.

A recipe may name them, else the game does (`games/safety/`), and else there are defaults. Names are those of players in
this game, short for `family/Name`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from typing import Any

from stratagem.base.consent.table import note_named
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.file_modules import path_of
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.games.safety.base import POOLS, Mixture, Pools, Safety
from stratagem.games.safety.catalogue import safety_of
from stratagem.games.talk import without_talk
from stratagem.players.base import Player
from stratagem.players.catalogue import NOBODY as NO_PLAYERS
from stratagem.players.catalogue import SYNONYMS, make_player
from stratagem.players.human import at_keyboard
from stratagem.players.tree_search import searchable


def default_pools(game: Game[Any]) -> Pools:
    """Return the default pools; without search there is no adversary, and nobody invites to collude."""
    search = search_of(game)
    return {
        "train": ("random", "first-legal", *([f"{search}:10"] if search else [])),
        "exploit": (f"{search}:100",) if search else (),
        "collusive": (),
        "shifted": ("noise(first-legal, p=0.2)", *([f"{search}:30"] if search else [])),
    }


def search_of(game: Game[Any]) -> str:
    """Return the search that plays a game without a look at what is hidden; empty where there is none."""
    if game.spec.perfect_information:
        return "mcts" if searchable(game) else ""
    return "ismcts" if searchable(game, hidden=True) else ""


NONE: Pools = {}
"""Pools of a recipe that names none."""
NOBODY: Mixture = {}
"""Demonstrators of a recipe that names none."""
_SITS_DOWN = "people play in `stratagem play` alone."


@dataclass(frozen=True)
class Pool:
    """Opponents by name."""

    name: str
    players: tuple[str, ...]

    def make(self, game: Game[Any]) -> list[Player]:
        """Make the players for this game; an error names the pool."""
        players = [make_named(f"The pool {self.name}", player, game) for player in self.players]
        names = [player.name for player in players]
        if twice := [name for name in names if names.count(name) > 1]:
            raise BadParameter(f"The pool {self.name} of {game.spec.name} has {twice[0]} twice: name it once.")
        return players


@dataclass(frozen=True)
class SharedStrategy:
    """A strategy that is in several pools, with its names there."""

    names: tuple[str, ...]
    pools: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' = '.join(self.names)} stands in {' and '.join(self.pools)}"


def pools(game: Game[Any], own: Pools = NONE) -> dict[str, Pool]:
    """Return the pools train, exploit, collusive and shifted for this game, any of which may be empty.

    A pool that a recipe names itself, in `own`, takes the place of the game's, and that of the game the default.
    """
    safety = naming_safety(game)
    named = {**(safety.pools if safety else {}), **own}
    if unknown := [name for name in named if name not in POOLS]:
        raise BadParameter(f"There is no pool {unknown[0]!r}: there are {', '.join(POOLS)}.")
    usual = {} if len(named) == len(POOLS) else default_pools(game)
    return {name: Pool(name, tuple(named[name] if name in named else usual[name])) for name in POOLS}


def naming_safety(game: Game[Any]) -> Safety[Any] | None:
    """Return the safety of a game; files that its players are in are the user's own where the file of the game is."""
    safety = safety_of(game)
    if safety is not None:
        names = [*safety.demonstrators, *(name for some in safety.pools.values() for name in some)]
        if (path := path_of(type(without_talk(game)))) is not None:
            note_named(path, names)
    return safety


def has_pools(game: Game[Any]) -> bool:
    """Return whether the game names opponents itself."""
    safety = safety_of(game)
    return safety is not None and bool(safety.pools)


def make_bot(name: str, game: Game[Any], known: Mapping[str, Player] = NO_PLAYERS) -> Player:
    """Make a player of a training, which asks nobody at the keyboard."""
    player = make_player(name, game, known)
    if at_keyboard(player):
        raise BadParameter(f"Training in {game.spec.name} cannot have {name!r}: {_SITS_DOWN}")
    return player


def make_named(where: str, name: str, game: Game[Any]) -> Player:
    """Make a player that a game or a recipe names; an error says where."""
    try:
        player = make_player(name, game)
    except StratagemError as error:
        raise BadParameter(f"{where} of {game.spec.name} cannot have {name!r}. {error}") from error
    if at_keyboard(player):
        raise BadParameter(f"{where} of {game.spec.name} cannot have {name!r}: {_SITS_DOWN}")
    return player


def shared_strategies(game: Game[Any], named: Mapping[str, Sequence[str]]) -> list[SharedStrategy]:
    """Return the strategies in more than one of these pools; two names for one strategy count as one."""
    entries: dict[str, list[tuple[str, str]]] = {}
    for pool, players in named.items():
        for name in players:
            entries.setdefault(_strategy(name, game), []).append((name, pool))
    return [
        SharedStrategy(tuple(dict.fromkeys(name for name, _ in pairs)), tuple(pool for _, pool in pairs))
        for pairs in entries.values()
        if len(pairs) > 1
    ]


def overlap_warning(game: Game[Any], named: Mapping[str, Sequence[str]]) -> str:
    """Warn in one sentence of strategies in two pools; empty where there are none."""
    shared = shared_strategies(game, named)
    if not shared:
        return ""
    listed = "; ".join(map(str, shared))
    return f"The pools of {game.spec.name} overlap, so figures over them are not independent: {listed}."


def demonstrators(game: Game[Any], own: Mixture = NOBODY, own_pools: Pools = NONE) -> dict[str, float]:
    """Return the demonstrators of SFT with their weights: a recipe's, the game's, or the train pool evenly."""
    safety = naming_safety(game)
    weights = dict(own or (safety.demonstrators if safety else {}))
    weights = weights or dict.fromkeys(pools(game, own_pools)["train"].players, 1.0)
    check_weights(weights, f"The demonstrators of {game.spec.name}")
    return weights


def check_weights(weights: Mixture, owner: str) -> None:
    """Refuse weights by which nobody can be drawn."""
    for name, weight in weights.items():
        if not isfinite(weight) or weight < 0.0:
            raise BadParameter(f"{owner} cannot have {name} with the weight {weight}: a weight is at least 0.")
    if not fsum(weights.values()) > 0.0:
        raise BadParameter(f"{owner} have weights that sum to 0: give one of them a weight above 0.")


def draw_demonstrator(weights: Mixture, key: Key) -> str:
    """Draw one demonstrator by weight; one key is one draw."""
    return list(weights)[key.choose(list(weights.values()))]


def sft_opponents(game: Game[Any], own: Pools = NONE, count: int = 5) -> tuple[str, ...]:
    """Return the first `count` different strategies of train, then exploit, then collusive.

    Fewer where there are no more.
    """
    named = pools(game, own)
    chosen: dict[str, str] = {}
    for pool in ("train", "exploit", "collusive"):
        for name in named[pool].players:
            chosen.setdefault(_strategy(name, game), name)
    return tuple(chosen.values())[:count]


def _strategy(name: str, game: Game[Any]) -> str:
    """Return the one key of a strategy that has several names."""
    key = f"{game.spec.family}/{name}"
    return SYNONYMS.get(key, key)
