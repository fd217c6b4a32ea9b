"""Facts of Diplomacy for a template: the phase, the power's units and possible orders, and the board by power."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stratagem.prompting.templates.fact import PromptFact, TemplateScene, listed_fact

_KINDS = {"M": "movement", "R": "retreats", "A": "adjustments"}


def _places(scene: TemplateScene) -> Iterator[dict[str, Any]]:
    sheet = scene.facts.board.sheet(scene.facts.power)
    for slot in sheet.slots if sheet else ():
        yield {"place": slot.name, "num_orders": len(slot.options), "possible_orders": slot.options}


def _due(scene: TemplateScene) -> int:
    """Return the number of lines of the sheet that are to be filled."""
    sheet = scene.facts.board.sheet(scene.facts.power)
    return 0 if sheet is None else int(sheet.fill)


def _powers(scene: TemplateScene) -> Iterator[dict[str, Any]]:
    board = scene.facts.board
    for power in board.powers:
        yield {
            "name": power,
            "own": power == scene.facts.power,
            "units": board.units(power),
            "dislodged": tuple(board.dislodged(power)),
            "centres": board.centers(power),
            "num_centres": len(board.centers(power)),
        }


def _field(name: str, about: str) -> PromptFact:
    return PromptFact(name, about, lambda item: item[name])


def _list_field(name: str, about: str) -> PromptFact:
    return listed_fact(name, about, lambda item: item[name])


DIPLOMACY = (
    PromptFact("power", "Own power.", lambda scene: scene.facts.power),
    PromptFact("phase", "Phase in short: S1901M.", lambda scene: scene.facts.board.phase),
    PromptFact("phase_kind", "movement, retreats or adjustments.", lambda scene: _KINDS[scene.facts.board.kind]),
    PromptFact("year", "Year of the phase.", lambda scene: scene.facts.board.year),
    listed_fact("units", "Own units.", lambda scene: scene.facts.board.units(scene.facts.power)),
    PromptFact("num_units", "Number of own units.", lambda scene: len(scene.facts.board.units(scene.facts.power))),
    PromptFact("num_orders", "Number of orders that are due.", _due),
    PromptFact(
        "places",
        "Places that have an order.",
        _places,
        (
            _field("place", "Name of the province."),
            _field("num_orders", "Number of its possible orders."),
            _list_field("possible_orders", "Its possible orders."),
        ),
    ),
    PromptFact(
        "powers",
        "All powers with their units and centres.",
        _powers,
        (
            _field("name", "Name of the power."),
            _field("own", "Whether it is one's own."),
            _list_field("units", "Its units."),
            _list_field("dislodged", "Its units that must retreat."),
            _list_field("centres", "Its supply centres."),
            _field("num_centres", "Number of its centres."),
        ),
    ),
)
