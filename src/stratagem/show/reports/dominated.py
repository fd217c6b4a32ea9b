"""Dominated actions in a run's policy: actions with positive probability although another action is never worse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.games.bounded import make_bounded_game
from stratagem.measure.dominance import DominatedPlay, dominated_actions
from stratagem.measure.equilibria import family_of
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.stages import stages_of

LEAST = 0.05
"""Smallest probability to report."""


class DominatedAction(NamedTuple):
    """Dominated action with its probability in the first and the chosen policy, and by stage."""

    game: str
    situation: str
    action: str
    by: str
    strict: bool
    before: float
    now: float
    stages: Mapping[str, float]

    @property
    def is_played(self) -> bool:
        """True if the chosen policy plays it with a probability of `LEAST` or more."""
        return self.now >= LEAST

    def to_json(self) -> dict[str, Any]:
        """As data."""
        return self._asdict() | {"stages": dict(self.stages)}


def find_flagged(data: RunData) -> list[DominatedAction]:
    """Find every dominated action that some stage plays with `LEAST` or more, in the order of the information sets."""
    return [action for game in data.policies for action in _of_game(data, game)]


def _of_game(data: RunData, game: str) -> Iterator[DominatedAction]:
    stages = stages_of(data.policies[game], data.chosen_step)
    counts = stages.get("chosen") or stages.get("last") or stages["start"]
    for key, every in dominated_actions_of(game).items():
        for dominated_action in every:
            shares = {
                name: policy.policy.get(key, {}).get(dominated_action.action, 0.0) for name, policy in stages.items()
            }
            if max(shares.values()) >= LEAST:
                now = counts.policy.get(key, {}).get(dominated_action.action, 0.0)
                words = situation(game, key)
                yield DominatedAction(
                    game,
                    words,
                    dominated_action.action,
                    dominated_action.by,
                    dominated_action.strict,
                    shares["start"],
                    now,
                    shares,
                )


@lru_cache(maxsize=32)
def dominated_actions_of(game: str) -> Mapping[str, list[DominatedPlay]]:
    """Return the dominated actions of a game; none where it cannot be made, or is too large to walk."""
    try:
        return dominated_actions(make_bounded_game(game))
    except StratagemError:
        return {}


def has_dominated_actions(data: RunData, game: str) -> bool:
    """Return whether the saved policy of a game has an information set with a dominated action."""
    return any(key in dominated_actions_of(game) for policy in data.policies[game] for key in policy.policy)


def situation(game: str, key: str) -> str:
    """Return an information set in words where the game's family of equilibria has it, else its key."""
    family = family_of(game)
    return next((place.situation for place in (family.places if family else ()) if place.key == key), key)
