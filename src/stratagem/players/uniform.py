"""Players whose choice depends only on the legal actions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from math import comb, prod
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import View
from stratagem.games.choices import Choices, Sheet
from stratagem.players.base import Ask, Move, Scripted, Traits

LISTABLE = 4096
"""Largest number of actions that an exact policy lists."""


class Random(Scripted[Any]):
    """Plays a legal action, all equally likely; on a sheet the slots are drawn, then each slot's line."""

    traits = Traits(stochastic=True)

    @property
    def name(self) -> str:
        return "random"

    def turn(self, ask: Ask) -> Move:
        """Draw without listing anything: it is the opponent of very many games."""
        return Move(ask.view.choices.sample(ask.key))

    def strategy(self, view: View[Any]) -> Mapping[str, float]:
        return uniform(view.choices)


class RandomLegal(Random):
    """Plays a legal action, all equally likely; the uniform player under SEPO's name for it in kuhn."""

    family = "kuhn"

    @property
    def name(self) -> str:
        return "kuhn/RandomLegal"


class FirstLegal(Scripted[Any]):
    """Plays the first legal action in the order of the game."""

    @property
    def name(self) -> str:
        return "first-legal"

    def strategy(self, view: View[Any]) -> str:
        return view.choices.first


def uniform(choices: Choices) -> Mapping[str, float]:
    """Return the distribution of `choices.sample`."""
    if choices.count > LISTABLE:
        raise CannotCompute(f"{choices.count} legal actions are too many to list: at most {LISTABLE} are.")
    if isinstance(choices, Sheet):
        return _drawn_slot_by_slot(choices)
    return dict.fromkeys(choices, 1.0 / choices.count)


def _drawn_slot_by_slot(sheet: Sheet) -> Mapping[str, float]:
    """Return the distribution of a draw slot by slot.

    Sheets differ in likelihood where slots differ in options or share a line.
    """
    mix: dict[str, float] = {}
    ways = comb(len(sheet.slots), sheet.fill)
    for slots in combinations(sheet.slots, sheet.fill):
        share = 1.0 / (ways * prod(len(slot.options) for slot in slots))
        for lines in product(*(slot.options for slot in slots)):
            if (action := sheet.canonical(lines)) is not None:
                mix[action] = mix.get(action, 0.0) + share
    return mix
