"""A skill for people to read, moved game by game as online players know it (Weng and Lin 2011, by openskill).

It takes part in nothing: matches are made from results, and Elo by maximum likelihood has the intervals. What it adds
is a figure of the kind that game servers show. Later games count more, so they are taken in a drawn order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openskill.models import PlackettLuce

from stratagem.games.key import Key


@dataclass(frozen=True)
class Placing:
    """One game: who held its sides, and what each side was paid."""

    names: tuple[str, ...]
    payoffs: tuple[float, ...]


@dataclass(frozen=True)
class Skill:
    """A mean and what is not known of it; openskill begins at 25 and 25/3."""

    name: str
    mu: float
    sigma: float


def skills(games: Sequence[Placing], key: Key) -> list[Skill]:
    """Everybody's skill after all games, the best first; a game of somebody with itself says nothing."""
    model = PlackettLuce()
    rated = {name: model.rating() for game in games for name in game.names}
    for game in key.at("order").rng().sample(games, len(games)):
        if len(set(game.names)) < len(game.names):
            continue
        told = model.rate([[rated[name]] for name in game.names], scores=list(game.payoffs))
        rated |= {name: side[0] for name, side in zip(game.names, told, strict=True)}
    found = [Skill(name, rating.mu, rating.sigma) for name, rating in rated.items()]
    return sorted(found, key=lambda skill: (-skill.mu, skill.name))
