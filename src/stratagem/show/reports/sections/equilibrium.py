"""Sections of the policy by information set: equilibria, first sets of games without them, and dominated actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from stratagem.base.number_texts import number
from stratagem.measure.equilibria import family_of
from stratagem.measure.equilibrium_family import EquilibriumFamily, FamilyInformationSet
from stratagem.show.html import Html, element, join
from stratagem.show.reports.dominated import LEAST, DominatedAction, find_flagged, has_dominated_actions
from stratagem.show.reports.figure import PictureFacts, count_noun, label, picture
from stratagem.show.reports.files import PolicySchema
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, fold_element, missing, table
from stratagem.show.reports.stages import Stages, stages_of, titles

_SYMBOLS = {"start": "circle-open", "chosen": "diamond", "last": "square-open"}
_SIZES = {"start": 17, "chosen": 11, "last": 13}


class Nearest(NamedTuple):
    """Family and its member nearest to the policy shown."""

    family: EquilibriumFamily
    number: float

    @property
    def title(self) -> str:
        """Member by its number, such as "alpha 0.2"."""
        return f"{self.family.number} {number(self.number)}"

    def at(self, place: FamilyInformationSet) -> float:
        """Return the member's probability."""
        return self.family.at(place, self.number)


def equilibrium(data: RunData) -> Section | None:
    """Make the section for runs in games whose equilibria are known."""
    families = {game: family for game in data.policies if (family := family_of(game))}
    if not families and not any(map(family_of, _game_names(data))):
        return None
    parts = [
        _game(data, game, family, stages_of(data.policies[game], data.chosen_step)) for game, family in families.items()
    ]
    return Section(
        name="equilibrium",
        title="Policy and equilibria",
        shows="Probability of the named action in each information set. A band shows the range of the equilibria.",
        body=join(*parts) if parts else missing(_why(data)),
    )


def _game_names(data: RunData) -> list[str]:
    """Return the games that the recipe names."""
    named = data.settings.get("game"), data.settings.get("games")
    return [str(game) for entry in named if entry for game in (entry if isinstance(entry, list) else [entry])]


def _why(data: RunData) -> str:
    broken = [sentence for name, sentence in data.broken.items() if name.startswith("policies/")]
    return (
        broken[0] if broken else "There is no file in policies/ yet: the policy is saved at each validation or stage."
    )


def _game(data: RunData, game: str, family: EquilibriumFamily, stages: Stages) -> Html:
    stage_titles = titles(data, stages)
    nearest = Nearest(family, family.nearest(_policy_to_show(stages).policy))
    groups = dict.fromkeys(place.group for place in family.places)
    pictures = element("div", *(_group(group, nearest, stages, stage_titles) for group in groups), class_="facets")
    return join(
        element("h3", game),
        _distances(family, stages, stage_titles),
        _legend(nearest, stage_titles),
        pictures,
        _numbers(nearest, stages, stage_titles),
    )


def _policy_to_show(stages: Stages) -> PolicySchema:
    """Return the policy to show: the chosen, else the newest."""
    return stages.get("chosen") or stages.get("last") or stages["start"]


def _distances(family: EquilibriumFamily, stages: Stages, stage_titles: dict[str, str]) -> Html:
    distances = [f"{number(family.distance(policy.policy))} ({stage_titles[name]})" for name, policy in stages.items()]
    return element(
        "p",
        f"Mean distance from the nearest equilibrium: {', '.join(distances)}. The equilibria are a family with one "
        f"parameter, {family.number}, which sets all {len(family.places)} probabilities. A band shows the family. The "
        "bar in it shows the equilibrium nearest to the chosen policy.",
    )


def _legend(nearest: Nearest, stage_titles: dict[str, str]) -> Html:
    """Explain the marks, once for all pictures."""
    described = stage_titles | {"band": "equilibria", "member": f"nearest equilibrium, {nearest.title}"}
    keys = (element("span", element("i", class_=f"key {name}"), f" {meaning}") for name, meaning in described.items())
    return element("p", *keys, class_="legend kinds")


def _group(group: str, nearest: Nearest, stages: Stages, stage_titles: dict[str, str]) -> Html:
    own = [place for place in nearest.family.places if place.group == group]
    traces = [
        _band(own),
        _member(own, nearest),
        *(_points(name, stage_titles[name], policy, own) for name, policy in stages.items()),
    ]
    layout = {
        "xaxis": {"range": [-0.03, 1.03], "tickformat": ".0%", "dtick": 0.25},
        "yaxis": {"autorange": "reversed", "type": "category", "showgrid": False},
        "showlegend": False,
        "hovermode": "closest",
        "barmode": "overlay",
    }
    reading = PictureFacts(
        "probability", count_noun(len(own), "information set"), "none, exact", "50 % for random play"
    )
    return picture(f"{group}: {own[0].verb}", traces, layout, reading=reading, kind="policy")


def _band(own: list[FamilyInformationSet]) -> dict[str, Any]:
    """Draw the range of the equilibria; a single number gets a band just wide enough to be seen."""
    return {
        "type": "bar",
        "orientation": "h",
        "y": [place.label for place in own],
        "base": [min(place.low, place.high) - 0.008 for place in own],
        "x": [abs(place.high - place.low) + 0.016 for place in own],
        "width": 0.62,
        "name": "equilibria",
        "role": "band",
        "hoverinfo": "skip",
    }


def _member(own: list[FamilyInformationSet], nearest: Nearest) -> dict[str, Any]:
    return {
        "mode": "markers",
        "y": [place.label for place in own],
        "x": [nearest.at(place) for place in own],
        "name": f"nearest, {nearest.title}",
        "role": "member",
        "marker": {"symbol": "line-ns", "size": 22, "line": {"width": 2}},
    }


def _points(name: str, title: str, policy: PolicySchema, own: list[FamilyInformationSet]) -> dict[str, Any]:
    return {
        "mode": "markers",
        "y": [place.label for place in own],
        "x": [place.probability_in(policy.policy) for place in own],
        "name": label(title),
        "role": name,
        "marker": {"symbol": _SYMBOLS[name], "size": _SIZES[name], "line": {"width": 2.5}},
    }


def _numbers(nearest: Nearest, stages: Stages, stage_titles: dict[str, str]) -> Html:
    rows = []
    for place in nearest.family.places:
        ends = [number(place.low)] if place.low == place.high else [number(place.low), number(place.high)]
        played = [number(place.probability_in(policy.policy)) for policy in stages.values()]
        rows.append(
            [f"{place.label}, {place.group}: {place.verb}", *played, " \u2026 ".join(ends), number(nearest.at(place))]
        )
    return fold_element(
        "Table of the probabilities", table(["", *stage_titles.values(), "equilibria", nearest.title], rows)
    )


_LEAST = 0.02
"""Smallest probability at any stage of an action to show."""
_LONGEST = 120


def openings(data: RunData) -> Section | None:
    """Make the section for runs with a saved policy of a game that has no section of its own."""
    games = {game: policies for game, policies in data.policies.items() if family_of(game) is None}
    if not games:
        return None
    parts = [_list_openings(data, game, stages_of(policies, data.chosen_step)) for game, policies in games.items()]
    return Section(
        name="openings",
        title="First actions",
        shows="Action probabilities of the policy in the first information sets of each game, of "
        f"{_LEAST:.0%} or more at any stage.",
        body=join(*parts),
    )


def _list_openings(data: RunData, game: str, stages: Stages) -> Html:
    rows = list(_opening_rows(stages))
    probabilities = table(["information set", "action", *titles(data, stages).values()], rows)
    return join(
        element("h3", game), probabilities if len(rows) <= 24 else fold_element(f"{len(rows)} actions", probabilities)
    )


def _opening_rows(stages: Stages) -> Iterator[list[str]]:
    """Make a row for each action of each information set, ordered by the final probability."""
    policies = [policy.policy for policy in stages.values()]
    for key in dict.fromkeys(key for policy in policies for key in policy):
        mixed = [policy.get(key, {}) for policy in policies]
        actions = dict.fromkeys(action for mix in mixed for action in mix)
        seen = [action for action in actions if max(mix.get(action, 0.0) for mix in mixed) >= _LEAST]
        for action in sorted(seen, key=lambda action: -mixed[-1].get(action, 0.0)):
            yield [key[:_LONGEST] or "start of the game", action, *(number(mix.get(action, 0.0)) for mix in mixed)]


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
    parts = [_list_dominated(data, game, [action for action in actions if action.game == game]) for game in games]
    return Section(
        name="dominated",
        title="Dominated actions",
        shows=f"Dominated actions that the policy plays with a probability of {LEAST:.0%} or more at any stage.",
        body=join(*parts, element("p", _NOTE, class_="legend")),
    )


def _list_dominated(data: RunData, game: str, actions: Sequence[DominatedAction]) -> Html:
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
