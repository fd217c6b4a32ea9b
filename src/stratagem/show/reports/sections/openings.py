"""Section of the policy in the first information sets of games without known equilibria."""

from __future__ import annotations

from collections.abc import Iterator

from stratagem.base.number_texts import number
from stratagem.measure.equilibria import family_of
from stratagem.show.html import Html, element, join
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, fold_element, table
from stratagem.show.reports.stages import Stages, stages_of, titles

_LEAST = 0.02
"""Smallest probability at any stage of an action to show."""
_LONGEST = 120


def openings(data: RunData) -> Section | None:
    """Make the section for runs with a saved policy of a game that has no section of its own."""
    games = {game: policies for game, policies in data.policies.items() if family_of(game) is None}
    if not games:
        return None
    parts = [_game(data, game, stages_of(policies, data.chosen_step)) for game, policies in games.items()]
    return Section(
        name="openings",
        title="First actions",
        shows="Action probabilities of the policy in the first information sets of each game, of "
        f"{_LEAST:.0%} or more at any stage.",
        body=join(*parts),
    )


def _game(data: RunData, game: str, stages: Stages) -> Html:
    rows = list(_rows(stages))
    probabilities = table(["information set", "action", *titles(data, stages).values()], rows)
    return join(
        element("h3", game), probabilities if len(rows) <= 24 else fold_element(f"{len(rows)} actions", probabilities)
    )


def _rows(stages: Stages) -> Iterator[list[str]]:
    """Make a row for each action of each information set, ordered by the final probability."""
    policies = [policy.policy for policy in stages.values()]
    for key in dict.fromkeys(key for policy in policies for key in policy):
        mixed = [policy.get(key, {}) for policy in policies]
        actions = dict.fromkeys(action for mix in mixed for action in mix)
        seen = [action for action in actions if max(mix.get(action, 0.0) for mix in mixed) >= _LEAST]
        for action in sorted(seen, key=lambda action: -mixed[-1].get(action, 0.0)):
            yield [key[:_LONGEST] or "start of the game", action, *(number(mix.get(action, 0.0)) for mix in mixed)]
