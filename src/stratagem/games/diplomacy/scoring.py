"""Scores of a game of Diplomacy for each power when it ends, by the centres that each owns."""

from __future__ import annotations

from collections.abc import Sequence

PLACES = (50.0, 25.0, 15.0, 10.0, 5.0, 2.0, 0.0)
"""The bonus for a place, first to seventh, of league-trained no-press Diplomacy's public code."""
CENTER, UNIT, SURVIVAL = 2.0, 0.2, 0.5
"""Reward for a centre, a unit, and survival in that code."""


def sum_of_squares(centers: Sequence[int], winner: int | None = None) -> tuple[float, ...]:
    """Square the own centres over the sum of all squares; a solo takes all.

    Chance in a mirror match is 1 in 7.
    """
    if winner is not None:
        return tuple(float(seat == winner) for seat in range(len(centers)))
    total = sum(count * count for count in centers)
    return tuple(count * count / total if total else 1.0 / len(centers) for count in centers)


def outcome(centers: Sequence[int], units: Sequence[int]) -> tuple[float, ...]:
    """Return the reward at the end: by centre, unit and survival, and a bonus by place, which ties share."""
    bonus = shared(centers)
    return tuple(
        CENTER * own + UNIT * count + SURVIVAL * bool(own or count) + place
        for own, count, place in zip(centers, units, bonus, strict=True)
    )


def shared(centers: Sequence[int]) -> tuple[float, ...]:
    """Return the bonus for each one's place; places that are tied for are shared."""
    rewards = []
    for own in centers:
        above, level = sum(other > own for other in centers), sum(other == own for other in centers)
        places = [PLACES[place] if place < len(PLACES) else 0.0 for place in range(above, above + level)]
        rewards.append(sum(places) / level)
    return tuple(rewards)
