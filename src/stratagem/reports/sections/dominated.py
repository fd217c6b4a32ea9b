"""Dominated actions, with their probabilities before and after."""

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
    """Only for runs that kept a policy of a game in which some action is known to be dominated."""
    games = [game for game in data.policies if is_told(data, game)]
    if not games:
        return None
    found = flagged(data)
    parts = [_game(data, game, [one for one in found if one.game == game]) for game in games]
    return Section(
        name="dominated",
        title="Dominated actions",
        shows=f"What the policy does with a probability of {LEAST:.0%} or more at any stage, though another action is "
        "never worse.",
        body=join(*parts, element("p", _NOTE, class_="legend")),
    )


def _game(data: RunData, game: str, found: Sequence[Flagged]) -> Html:
    if not found:
        none = f"No dominated action has {LEAST:.0%} or more at any stage."
        return join(element("h3", game), element("p", none, class_="good"))
    called = titles(data, stages_of(data.policies[game], data.chosen_step))
    rows = [
        [
            one.situation[:_LONGEST] or "the start",
            f"{one.action}, by {one.by}",
            "strictly" if one.strict else "weakly",
            *(_share(one.stages[name]) for name in called),
        ]
        for one in found
    ]
    return join(element("h3", game), table(["situation", "dominated action", "how", *called.values()], rows))


def _share(value: float) -> Html:
    return element("td", element("span", number(value), class_="bad") if value >= LEAST else number(value))
