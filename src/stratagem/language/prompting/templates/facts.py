"""Facts of a game for a template: those of every game, those of its class, and those that its own facts declare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from operator import itemgetter
from typing import Any

from stratagem.games.base import View
from stratagem.games.choices import Sheet
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.disguise import DisguisedView
from stratagem.games.kuhn import Kuhn
from stratagem.games.matrix import MatrixGame
from stratagem.games.spiel.rules import SpielRules
from stratagem.language.prompting.shapellm import count_pairs, last_pair
from stratagem.language.prompting.templates.fact import (
    PromptFact,
    TemplateScene,
    declared_facts,
    listed_fact,
    record_fact,
)
from stratagem.language.prompting.templates.spiel_facts import spiel_facts

_LISTED = 1000
"""Largest number of legal actions that are listed where they are neither a set nor a sheet."""


def _actions(scene: TemplateScene) -> list[str]:
    """Return the legal actions; of a sheet every line, since its actions are too many."""
    choices = scene.view.choices
    if isinstance(choices, Sheet):
        return list(dict.fromkeys(option for slot in choices.slots for option in slot.options))
    return [] if choices.is_open or choices.count > _LISTED else list(choices)


def _memory(scene: TemplateScene) -> Iterator[dict[str, Any]]:
    for actions, times in scene.past.counts.items():
        yield {"actions": "/".join(actions), "times": times}


EVERY_GAME = (
    PromptFact("rules", "Rules in words for this seat, the same in every situation.", lambda scene: scene.view.rules),
    PromptFact("situation", "History and present position in the game's own words.", lambda s: s.view.situation),
    PromptFact("state", "The game's short name of the state.", lambda scene: scene.view.state_key),
    PromptFact("game", "Name of the game.", lambda scene: scene.game.spec.name),
    PromptFact("seat", "Number of the seat, from 0.", lambda scene: scene.view.seat),
    PromptFact("seats", "Number of seats.", lambda scene: scene.game.spec.seats),
    listed_fact("actions", "Legal actions; of a sheet its possible lines.", _actions),
    PromptFact("choices", "Legal actions in one line, the first twelve.", lambda scene: scene.view.choices.summary()),
    PromptFact("memory_rounds", "Number of rounds of earlier episodes.", lambda scene: scene.past.rounds),
    record_fact(
        "memory",
        "Joint actions of earlier episodes.",
        _memory,
        {"actions": "The joint action, one's own first, with slashes.", "times": "How often it was played."},
    ),
)
"""Facts that every game has. The last two have values where the style recalls earlier episodes."""

_LETTERS = {"P": "PASS", "B": "BET", "C": "CALL", "F": "FOLD"}


def _bets(scene: TemplateScene, own: bool) -> list[str]:
    facts = scene.facts
    return [_LETTERS[letter] for place, letter in enumerate(facts.line) if (place % 2 == 0) is (facts.opens is own)]


KUHN = (
    listed_fact("own_moves", "Own moves in this hand.", lambda scene: _bets(scene, own=True)),
    listed_fact("other_moves", "The other player's moves in this hand.", lambda scene: _bets(scene, own=False)),
)
_ROUND = {
    "mine": "Own action.",
    "theirs": "The other's action.",
    "theirs_as_own": "The other's action by the seat's own label of it, where the seats have labels of their own.",
    "pay": "Own payoff.",
    "their_pay": "The other's payoff.",
}


def _rounds(scene: TemplateScene) -> Iterator[dict[str, Any]]:
    facts, game = scene.facts, scene.game
    for mine, theirs in zip(facts.mine, facts.theirs, strict=True):
        yield _cell(game, facts.seat, facts.labels[mine], facts.their_labels[theirs])


def _cell(game: MatrixGame, seat: int, mine: str, theirs: str) -> dict[str, Any]:
    pay, their_pay = game.pay(seat, mine, theirs)
    theirs_as_own = game.seat_labels(seat)[game.seat_labels(1 - seat).index(theirs)] if _alike(game) else theirs
    return {
        "mine": mine,
        "theirs": theirs,
        "theirs_as_own": theirs_as_own,
        "pay": float(pay),
        "their_pay": float(their_pay),
    }


def _alike(game: MatrixGame) -> bool:
    """True if the seats have equal numbers of actions, so that each may call the other's by its own labels."""
    return len(game.seat_labels(0)) == len(game.seat_labels(1))


def _payoffs(scene: TemplateScene) -> list[dict[str, Any]]:
    return [cell for row in _payoff_rows(scene) for cell in row["cells"]]


def _payoff_rows(scene: TemplateScene) -> list[dict[str, Any]]:
    """Return a row for each own action, with a cell for each of the other's."""
    facts, game = scene.facts, scene.game
    return [
        {"mine": mine, "cells": [_cell(game, facts.seat, mine, theirs) for theirs in facts.their_labels]}
        for mine in facts.labels
    ]


def _last(scene: TemplateScene, field: str) -> str | None:
    facts = scene.facts
    last = last_pair(facts, scene.past)
    if last is None:
        return None
    pair = facts.labels[last[0]], facts.their_labels[last[1]]
    return str(_cell(scene.game, facts.seat, *pair)[field])


def _occurrences(scene: TemplateScene) -> list[dict[str, Any]]:
    """Count each pair before the last round; nothing before the second round."""
    facts = scene.facts
    counts = count_pairs(facts, scene.past)
    pairs = product(range(len(facts.labels)), range(len(facts.their_labels)))
    rows = [{**cell, "times": counts[pair]} for pair, cell in zip(pairs, _payoffs(scene), strict=True)]
    return rows if counts.total() else []


MATRIX = (
    PromptFact("story", "The game's own story.", lambda scene: scene.game.story),
    listed_fact("labels", "Own actions.", lambda scene: scene.facts.labels),
    listed_fact("their_labels", "The other's actions.", lambda scene: scene.facts.their_labels),
    record_fact("payoffs", "Payoffs of every pair of actions.", _payoffs, _ROUND),
    PromptFact(
        "payoff_rows",
        "The same by own action.",
        _payoff_rows,
        (
            PromptFact("mine", "Own action.", itemgetter("mine")),
            record_fact("cells", "Payoffs by the other's action.", itemgetter("cells"), _ROUND),
        ),
    ),
    listed_fact("switched_labels", "Own actions, the last one first.", lambda scene: scene.facts.labels[::-1]),
    record_fact("switched_payoffs", "Payoffs of every pair, the last one first.", lambda s: _payoffs(s)[::-1], _ROUND),
    record_fact("rounds", "Rounds so far that counted.", _rounds, _ROUND),
    listed_fact("own_moves", "Own actions so far.", lambda scene: [row["mine"] for row in _rounds(scene)]),
    listed_fact("other_moves", "The other's actions so far.", lambda scene: [row["theirs"] for row in _rounds(scene)]),
    PromptFact("last_mine", "Own action in the last round; empty at first.", lambda scene: _last(scene, "mine")),
    PromptFact("last_theirs", "The other's action in the last round.", lambda scene: _last(scene, "theirs")),
    PromptFact(
        "last_theirs_as_own",
        "The same by the seat's own label of it.",
        lambda scene: _last(scene, "theirs_as_own"),
    ),
    record_fact(
        "occurrences",
        "How often each pair was played before the last round; empty until there is something to count.",
        _occurrences,
        {**_ROUND, "times": "Number of rounds."},
    ),
)
"""Facts of repeated matrix games. The last four go on from earlier episodes where the style recalls them."""


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
            "dislodged": tuple(board.units_to_retreat(power)),
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
