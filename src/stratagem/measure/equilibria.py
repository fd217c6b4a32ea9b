"""Games whose equilibria are known as a family with one free number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from stratagem.base.errors import StratagemError
from stratagem.games.bounded import make_bounded_game
from stratagem.games.kuhn.players import NashApprox
from stratagem.games.kuhn.rules import CARDS, KuhnFacts
from stratagem.measure.equilibrium_family import EquilibriumFamily, FamilyInformationSet

_ALPHA_MAX = 1 / 3
"""Largest probability of a bluff with the lowest card at the first turn in an equilibrium (Kuhn 1950)."""
_LINES = {
    "": ("First to act", "bets"),
    "PB": ("Has passed, then faces a bet", "calls"),
    "P": ("Second, after a pass", "bets"),
    "B": ("Second, facing a bet", "calls"),
}
"""By the betting so far: who decides, and what."""


@cache
def kuhn_family() -> EquilibriumFamily:
    """Kuhn poker's equilibria (Kuhn 1950): alpha from 0 to 1/3, in twelve information sets."""
    return EquilibriumFamily("alpha", _ALPHA_MAX, tuple(_kuhn_place(card, line) for line in _LINES for card in CARDS))


def _kuhn_place(card: str, line: str) -> FamilyInformationSet:
    group, verb = _LINES[line]
    low, high = (_bold(alpha, card, line) for alpha in (0.0, _ALPHA_MAX))
    return FamilyInformationSet(f"{card}:{line}", group, card, verb, ("BET", "CALL"), low, high)


def _bold(alpha: float, card: str, line: str) -> float:
    player, facts = NashApprox(alpha), KuhnFacts(0, card, line, line in ("", "PB"))
    return float(player.calls(facts) if facts.facing_bet else player.bets(facts))


FAMILIES: Mapping[str, Callable[[], EquilibriumFamily]] = {"kuhn": kuhn_family}
"""By the name of the game."""


@lru_cache(maxsize=64)
def family_of(game: str) -> EquilibriumFamily | None:
    """Return the family of a game that is named by its text; None where there is none, or no such game."""
    try:
        make = FAMILIES.get(make_bounded_game(game).spec.name)
    except StratagemError:
        return None
    return make() if make else None
