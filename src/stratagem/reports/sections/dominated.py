"""Section of dominated actions, with their probabilities before and after."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.reports.dominated import LEAST, Flagged, flagged, is_told
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import number
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, table
from stratagem.reports.stages import stages_of, titles

_LONGEST = 120
_NOTE = (
    "An action is dominated if another pays at least as much in every history of the situation, whatever anybody does "
    "later, and more in some. Strictly: more in all of them. This is told from bounds on the game tree, so an action "
    "may be dominated without being named here. What counts is the seat\u2019s own payoff."
)


def dominated(data: RunData) -> Section | None:
    """Make the section for runs with a saved policy of a game with known dominated actions."""
    games = [game for game in data.policies if is_told(data, game)]
    if not games:
        return None
    actions = flagged(data)
    parts = [_game(data, game, [action for action in actions if action.game == game]) for game in games]
    return Section(
        name="dominated",
        title="Dominated actions",
        shows=f"What the policy does with a probability of {LEAST:.0%} or more at any stage, though another action is "
        "never worse.",
        body=join(*parts, element("p", _NOTE, class_="legend")),
    )


def _game(data: RunData, game: str, actions: Sequence[Flagged]) -> Html:
    if not actions:
        none = f"No dominated action has {LEAST:.0%} or more at any stage."
        return join(element("h3", game), element("p", none, class_="good"))
    called = titles(data, stages_of(data.policies[game], data.chosen_step))
    rows = [
        [
            action.situation[:_LONGEST] or "the start",
            f"{action.action}, by {action.by}",
            "strictly" if action.strict else "weakly",
            *(_share(action.stages[name]) for name in called),
        ]
        for action in actions
    ]
    return join(element("h3", game), table(["situation", "dominated action", "how", *called.values()], rows))


def _share(value: float) -> Html:
    return element("td", element("span", number(value), class_="bad") if value >= LEAST else number(value))
