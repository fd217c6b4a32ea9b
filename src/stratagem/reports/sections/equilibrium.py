"""The policy of kuhn, information set by information set, against the family of its equilibria."""

from __future__ import annotations

from typing import Any

from stratagem.reports.equilibrium_family import GROUPS, KUHN, Place, distance, nearest_alpha, places
from stratagem.reports.figure import label, picture
from stratagem.reports.files import Policy
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import number
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, folded, missing, table
from stratagem.reports.stages import Stages, stages_of, titles

_SYMBOLS = {"start": "circle-open", "chosen": "diamond", "last": "square-open"}
_SIZES = {"start": 17, "chosen": 11, "last": 13}


def equilibrium(data: RunData) -> Section | None:
    """Only for runs that learn kuhn."""
    games = {game: policies for game, policies in data.policies.items() if KUHN.fullmatch(game)}
    if not games and not learns_kuhn(data):
        return None
    parts = [_game(data, game, stages_of(policies, data.chosen_step)) for game, policies in games.items()]
    return Section(
        name="equilibrium",
        title="The policy against the equilibria",
        shows="How probably the policy bets or calls in each of kuhn\u2019s twelve information sets, and the band in "
        "which an equilibrium may.",
        body=join(*parts) if parts else missing(_why(data)),
    )


def learns_kuhn(data: RunData) -> bool:
    """Whether the recipe names the game, alone or among others."""
    named = data.settings.get("game"), data.settings.get("games")
    return any(KUHN.fullmatch(str(game)) for one in named for game in (one if isinstance(one, list) else [one]))


def _why(data: RunData) -> str:
    broken = [sentence for name, sentence in data.broken.items() if name.startswith("policies/")]
    return broken[0] if broken else "There is no file in policies/ yet: the policy is kept at each validation or stage."


def _game(data: RunData, game: str, stages: Stages) -> Html:
    called = titles(data, stages)
    alpha = nearest_alpha(_shown(stages).policy)
    pictures = element("div", *(_group(line, stages, called, alpha) for line in GROUPS), class_="facets")
    return join(
        element("h3", game), _said(stages, called), _legend(called, alpha), pictures, _numbers(stages, called, alpha)
    )


def _shown(stages: Stages) -> Policy:
    """The one that counts: the chosen, else the newest."""
    return stages.get("chosen") or stages.get("last") or stages["start"]


def _said(stages: Stages, called: dict[str, str]) -> Html:
    apart = [f"{number(distance(policy.policy))} of {called[name]}" for name, policy in stages.items()]
    return element(
        "p",
        f"Mean distance from the nearest equilibrium: {', '.join(apart)}. A band is the whole family; the bar in it is "
        "the member nearest to the chosen policy, since one free number, alpha, moves all twelve at once.",
    )


def _legend(called: dict[str, str], alpha: float) -> Html:
    """What the marks mean, once for all four pictures."""
    told = called | {"band": "equilibria", "member": f"the nearest equilibrium, alpha {number(alpha, 2)}"}
    keys = (element("span", element("i", class_=f"key {name}"), f" {said}") for name, said in told.items())
    return element("p", *keys, class_="legend kinds")


def _group(line: str, stages: Stages, called: dict[str, str], alpha: float) -> Html:
    own = [place for place in places() if place.line == line]
    who, what = GROUPS[line]
    traces = [
        _band(own),
        _member(own, alpha),
        *(_points(name, called[name], policy, own) for name, policy in stages.items()),
    ]
    layout = {
        "xaxis": {"range": [-0.03, 1.03], "tickformat": ".0%", "dtick": 0.25},
        "yaxis": {"autorange": "reversed", "type": "category", "showgrid": False},
        "showlegend": False,
        "hovermode": "closest",
        "barmode": "overlay",
    }
    return picture(f"{who}: {what}", traces, layout, kind="policy")


def _band(own: list[Place]) -> dict[str, Any]:
    """Where an equilibrium may be; where that is one number, a band just wide enough to be seen."""
    return {
        "type": "bar",
        "orientation": "h",
        "y": [place.card for place in own],
        "base": [min(place.low, place.high) - 0.008 for place in own],
        "x": [abs(place.high - place.low) + 0.016 for place in own],
        "width": 0.62,
        "name": "equilibria",
        "role": "band",
        "hoverinfo": "skip",
    }


def _member(own: list[Place], alpha: float) -> dict[str, Any]:
    return {
        "mode": "markers",
        "y": [place.card for place in own],
        "x": [place.at(alpha) for place in own],
        "name": f"nearest, alpha {number(alpha, 2)}",
        "role": "member",
        "marker": {"symbol": "line-ns", "size": 22, "line": {"width": 2}},
    }


def _points(name: str, title: str, policy: Policy, own: list[Place]) -> dict[str, Any]:
    return {
        "mode": "markers",
        "y": [place.card for place in own],
        "x": [place.played(policy.policy) for place in own],
        "name": label(title),
        "role": name,
        "marker": {"symbol": _SYMBOLS[name], "size": _SIZES[name], "line": {"width": 2.5}},
    }


def _numbers(stages: Stages, called: dict[str, str], alpha: float) -> Html:
    rows = []
    for place in places():
        who, what = GROUPS[place.line]
        ends = [number(place.low)] if place.low == place.high else [number(place.low), number(place.high)]
        played = [number(place.played(policy.policy)) for policy in stages.values()]
        rows.append([f"{place.card}, {who}: {what}", *played, " \u2026 ".join(ends), number(place.at(alpha))])
    return folded("The same as numbers", table(["", *called.values(), "equilibria", f"alpha {number(alpha)}"], rows))
