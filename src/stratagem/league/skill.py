"""Skill ratings of online games, updated game by game (Weng and Lin 2011, by openskill).

They are for display only: matches are made from results, and Elo by maximum likelihood has the intervals. The figure is
of the kind that game servers show. Later games count more, so they are taken in a drawn order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openskill.models import PlackettLuce

from stratagem.games.key import Key


@dataclass(frozen=True)
class Placing:
    """One game: the members on its sides, and the payoff of each."""

    names: tuple[str, ...]
    payoffs: tuple[float, ...]


@dataclass(frozen=True)
class Skill:
    """Mean and uncertainty; openskill begins at 25 and 25/3."""

    name: str
    mu: float
    sigma: float


def skills(games: Sequence[Placing], key: Key) -> list[Skill]:
    """Rate everybody after all games, the best first; a game of a member with itself is left out."""
    model = PlackettLuce()
    rated = {name: model.rating() for game in games for name in game.names}
    for game in key.at("order").rng().sample(games, len(games)):
        if len(set(game.names)) < len(game.names):
            continue
        rated_now = model.rate([[rated[name]] for name in game.names], scores=list(game.payoffs))
        rated |= {name: side[0] for name, side in zip(game.names, rated_now, strict=True)}
    skills_found = [Skill(name, rating.mu, rating.sigma) for name, rating in rated.items()]
    return sorted(skills_found, key=lambda skill: (-skill.mu, skill.name))
