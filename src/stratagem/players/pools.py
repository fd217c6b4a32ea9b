"""Pools of opponents for training and evaluation (SEPO), and demonstrators for SFT.

Names are those that SEPO prints, short for `family/Name`. Two things are ours. The pool `robust`, which SEPO does not
list: none of its players stands in another pool. And MarginPlay and LowMedium in the auction's exploit pool: SEPO's one
adversary there, AggressiveBid, never earns more than anybody, so that its figure is 0 for every policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from stratagem.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.base import Player
from stratagem.players.catalogue import SYNONYMS, make_player

T = TypeVar("T")

POOLS: dict[str, dict[str, tuple[str, ...]]] = {
    "ipd": {
        "train": ("TitForTat", "GenerousTFT", "Mixed", "GrimTrigger"),
        "exploit": ("AlwaysDefect", "AlternateDefect"),
        "collusive": ("AlwaysCooperate",),
        "robust": ("Pavlov", "SuspiciousTitForTat", "TitForTwoTats", "FirmButFair", "HardMajority", "Joss"),
    },
    "auction": {
        "train": ("Truthful", "Conservative", "Shaded", "Adaptive"),
        "exploit": ("AggressiveBid", "MarginPlay", "LowMedium"),
        "collusive": ("CollusiveLow",),
        "robust": ("FlatMedium", "Sniper", "Matcher", "Overbidder", "FictitiousPlay"),
    },
    "negotiation-v1": {
        "train": ("Fair", "Balanced", "Concede", "Hard"),
        "exploit": ("Selfish", "Hardball"),
        "collusive": ("Fair",),
        "robust": ("TakeAll", "BestReply", "FictitiousPlay", "GrimSplit", "Nibbler"),
    },
    "negotiation-v2": {
        "train": ("FairNeg", "TitForTatNeg", "ConcedeNeg"),
        "exploit": ("GreedyNeg", "HardballNeg"),
        "collusive": ("FairNeg",),
        "robust": ("HalfUnits", "MirrorNeg", "GrimNeg", "Boulware"),
    },
    "kuhn": {
        "train": ("NashApprox", "TightPassive", "LooseAggressive"),
        "exploit": ("NashApprox", "AlwaysBet"),
        "collusive": (),
        "robust": ("CallingStation", "Bluffer", "Trapper", "Suspicious"),
    },
}
"""By family of games, then by pool."""

DEMONSTRATORS: dict[str, dict[str, float]] = {
    "ipd": {
        "TitForTat": 0.33,
        "AlwaysDefect": 0.27,
        "GrimTrigger": 0.22,
        "Random": 0.08,
        "GenerousTFT": 0.05,
        "AlwaysCooperate": 0.05,
    },
    "auction": {"ValueBid": 0.44, "AggressiveValue": 0.28, "Adaptive": 0.20, "Random": 0.08},
    "negotiation-v1": {"FairSplit": 0.32, "Balanced": 0.27, "Concede": 0.18, "TFT-Neg": 0.15, "Random": 0.08},
    "negotiation-v2": {"Proportional": 0.35, "Conservative": 0.25, "Adaptive": 0.25, "Defensive": 0.15},
    "kuhn": {"NashApprox": 0.45, "TightValue": 0.25, "PotControl": 0.20, "RandomLegal": 0.08, "AlwaysPassQueen": 0.02},
}
"""By family of games: the players whose play SFT imitates, with their weights."""


@dataclass(frozen=True)
class Pool:
    """Opponents by name."""

    name: str
    players: tuple[str, ...]

    def make(self, game: Game[Any]) -> list[Player]:
        """Make the players for this game."""
        return [make_player(player, game) for player in self.players]


@dataclass(frozen=True)
class Shared:
    """A strategy that is in several pools, with its names there."""

    names: tuple[str, ...]
    pools: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' = '.join(self.names)} stands in {' and '.join(self.pools)}"


def pools(game: Game[Any]) -> dict[str, Pool]:
    """Return the pools train, exploit, collusive and robust for this game, any of which may be empty."""
    return {name: Pool(name, players) for name, players in _of_family(game, POOLS).items()}


def shared_strategies(game: Game[Any]) -> list[Shared]:
    """Return the strategies in more than one pool; two names for one strategy count as one."""
    entries: dict[str, list[tuple[str, str]]] = {}
    for pool in pools(game).values():
        for name in pool.players:
            entries.setdefault(_strategy(name, game), []).append((name, pool.name))
    return [
        Shared(tuple(dict.fromkeys(name for name, _ in pairs)), tuple(pool for _, pool in pairs))
        for pairs in entries.values()
        if len(pairs) > 1
    ]


def overlap_warning(game: Game[Any]) -> str:
    """Warn in one sentence of strategies in two pools; empty where there are none."""
    shared = shared_strategies(game)
    if not shared:
        return ""
    listed = "; ".join(map(str, shared))
    return f"The pools of {game.spec.name} overlap, so figures over them are not independent: {listed}."


def demonstrators(game: Game[Any]) -> dict[str, float]:
    """Return the demonstrators of SFT with their weights, which sum to one."""
    weights = _of_family(game, DEMONSTRATORS)
    return dict(weights)


def draw_demonstrator(game: Game[Any], key: Key) -> str:
    """Draw one demonstrator by weight; one key is one draw."""
    weights = demonstrators(game)
    return list(weights)[key.choose(list(weights.values()))]


def sft_opponents(game: Game[Any], count: int = 5) -> tuple[str, ...]:
    """Return the first `count` different strategies of train, then exploit, then collusive.

    Fewer where there are no more.
    """
    family = _of_family(game, POOLS)
    chosen: dict[str, str] = {}
    for name in (*family["train"], *family["exploit"], *family["collusive"]):
        chosen.setdefault(_strategy(name, game), name)
    return tuple(chosen.values())[:count]


def _strategy(name: str, game: Game[Any]) -> str:
    """Return the one key of a strategy that has several names."""
    key = f"{game.spec.family}/{name}"
    return SYNONYMS.get(key, key)


def _of_family(game: Game[Any], table: dict[str, T]) -> T:
    if game.spec.family not in table:
        raise BadParameter(
            f"There are pools for games of the families {', '.join(table)}, and {game.spec.name} is of none of them."
        )
    return table[game.spec.family]
