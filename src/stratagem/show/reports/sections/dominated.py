"""Section of dominated actions, with their probabilities before and after."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.base.number_texts import number
from stratagem.show.html import Html, element, join
from stratagem.show.reports.dominated import LEAST, DominatedAction, find_flagged, has_dominated_actions
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, table
from stratagem.show.reports.stages import stages_of, titles

_LONGEST = 120
_NOTE = (
    "An action is weakly dominated if another action has at least the same payoff in every history of the "
    "information set, whatever all players do later, and a higher one in some. It is strictly dominated if the payoff "
    "is higher in all of them. The test uses bounds on the game tree, so the list may be incomplete. Only the "
    "seat\u2019s own payoff counts."
)


def dominated_actions(data: RunData) -> Section | None:
    """Make the section for runs with a saved policy of a game with known dominated actions."""
    games = [game for game in data.policies if has_dominated_actions(data, game)]
    if not games:
        return None
    actions = find_flagged(data)
    parts = [_game(data, game, [action for action in actions if action.game == game]) for game in games]
    return Section(
        name="dominated",
        title="Dominated actions",
        shows=f"Dominated actions that the policy plays with a probability of {LEAST:.0%} or more at any stage.",
        body=join(*parts, element("p", _NOTE, class_="legend")),
    )


def _game(data: RunData, game: str, actions: Sequence[DominatedAction]) -> Html:
    if not actions:
        none = f"No dominated action has a probability of {LEAST:.0%} or more at any stage."
        return join(element("h3", game), element("p", none, class_="good"))
    stage_titles = titles(data, stages_of(data.policies[game], data.chosen_step))
    rows = [
        [
            action.situation[:_LONGEST] or "start of the game",
            f"{action.action}, by {action.by}",
            "strict" if action.strict else "weak",
            *(_share(action.stages[name]) for name in stage_titles),
        ]
        for action in actions
    ]
    return join(
        element("h3", game), table(["information set", "dominated action", "dominance", *stage_titles.values()], rows)
    )


def _share(value: float) -> Html:
    return element("td", element("span", number(value), class_="bad") if value >= LEAST else number(value))
