"""Facts of a game for a template: those of every game, those of its class, and those that its own facts declare."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stratagem.games.base import View
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.disguise import DisguisedView
from stratagem.games.kuhn import Kuhn
from stratagem.games.matrix import MatrixGame
from stratagem.games.spiel.rules import SpielRules
from stratagem.prompting.templates.common_facts import EVERY_GAME, KUHN, MATRIX
from stratagem.prompting.templates.diplomacy_facts import DIPLOMACY
from stratagem.prompting.templates.fact import PromptFact, declared_facts
from stratagem.prompting.templates.spiel_facts import spiel_facts

_PLAIN_WORDS = ("game", "state")
"""Facts of every game that a disguise hides."""


def game_facts(view: View[Any]) -> tuple[PromptFact, ...]:
    """Return the facts of this game beside those of every game; none under a disguise, where they would tell words."""
    if isinstance(view, DisguisedView):
        return ()
    game = view.game
    if isinstance(game, SpielRules):
        return spiel_facts(game)
    if isinstance(game, Diplomacy):
        return DIPLOMACY
    if isinstance(game, MatrixGame):
        return MATRIX
    kind: Any = type(view.facts)
    return (*(KUHN if isinstance(game, Kuhn) else ()), *map(_of_scene, declared_facts(kind)))


def _of_scene(fact: PromptFact) -> PromptFact:
    """Return a fact of a seat's facts as one of the scene."""
    return replace(fact, read=lambda scene: fact.read(scene.facts))


def facts_by_name(view: View[Any]) -> dict[str, PromptFact]:
    """Return every fact that a template may name in this game."""
    hidden = _PLAIN_WORDS if isinstance(view, DisguisedView) else ()
    return {fact.name: fact for fact in (*EVERY_GAME, *game_facts(view)) if fact.name not in hidden}
