"""Leaderboard of audits: agents by one figure, each with the ranks that its limits allow.

Where less is better, an agent is surely ahead of another if its upper limit is below the other's lower limit. Its best
rank is one more than the number of those surely ahead of it. Its worst rank is the number of agents less those that it
is surely ahead of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.base import Json
from stratagem.measure.audit.card import Card
from stratagem.measure.audit.measurement import Measurement
from stratagem.measure.figures.audits import audit_figure

_ROUNDING = 1e-9
"""Difference that is no more than the order of a sum: exact figures of two agents may be equal but for it."""


@dataclass(frozen=True)
class LeaderboardPlace:
    """Agent on the leaderboard of a figure."""

    agent: str
    figure: Measurement
    best: int
    """Best rank that the limits allow."""
    worst: int
    card: Card

    def to_json(self) -> Json:
        """Return the place by name; a board is the ranking by one figure."""
        figure = self.figure
        ends = {"value": figure.value, "lower": figure.lower, "upper": figure.upper}
        ranks = {"best_rank": self.best, "worst_rank": self.worst}
        return {"agent": self.agent, **ends, **ranks, "unit": figure.unit, "board": figure.name}


def exploitabilities(cards: Sequence[Card]) -> list[str]:
    """Return the names of the exploitabilities that cards have, game by game."""
    figures = [figure for card in cards for figure in card.figures if centre_of(figure) is not None]
    known = list(
        dict.fromkeys(one.name for one in figures if one.name.endswith((".exploitability", ".exploitability_ratio")))
    )
    if not known:
        raise BadParameter("These audits have no exploitability: name another figure.")
    return known


def leaderboard(cards: Sequence[Card], name: str) -> list[LeaderboardPlace]:
    """Return the agents that have a figure, the best first; agents of one name are told apart by a number."""
    known = sorted({figure.name for card in cards for figure in card.figures if centre_of(figure) is not None})
    if name not in known:
        raise UnknownName("figure of these audits", name, known)
    if len(cards) < 2:
        raise BadParameter("A leaderboard needs at least two audits.")
    cards = [card for card in cards if name in card.by_name and centre_of(card.by_name[name]) is not None]
    sign = -1.0 if audit_figure(name).better == "higher" else 1.0
    every = [card.by_name[name] for card in cards]
    places = [
        LeaderboardPlace(agent, figure, *_ranks(figure, every, sign), card)
        for agent, figure, card in zip(_names(cards), every, cards, strict=True)
    ]
    return sorted(places, key=lambda place: (sign * (centre_of(place.figure) or 0.0), place.agent))


def _names(cards: Sequence[Card]) -> list[str]:
    """Return the agents' names, with a number where several audits have one name."""
    names = [card.agent for card in cards]
    numbers = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [
        f"{name} ({number})" if names.count(name) > 1 else name for name, number in zip(names, numbers, strict=True)
    ]


def centre_of(figure: Measurement) -> float | None:
    """Return the figure by which an agent is placed: its value, or the lower limit where it has none."""
    return figure.lower if figure.value is None else figure.value


def _ranks(figure: Measurement, every: Sequence[Measurement], sign: float) -> tuple[int, int]:
    ahead = sum(_surely_ahead(other, figure, sign) for other in every)
    behind = sum(_surely_ahead(figure, other, sign) for other in every)
    return 1 + ahead, len(every) - behind


def _surely_ahead(one: Measurement, other: Measurement, sign: float) -> bool:
    """Return whether the limits leave no doubt that one is better than the other."""
    good, bad = (one.upper, other.lower) if sign > 0.0 else (other.upper, one.lower)
    return good is not None and bad is not None and bad - good > _ROUNDING
