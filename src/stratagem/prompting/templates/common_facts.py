"""Facts of every game for a template, and those of Kuhn poker and of repeated matrix games."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from operator import itemgetter
from typing import Any

from stratagem.games.choices import Sheet
from stratagem.games.matrix import MatrixGame
from stratagem.prompting.shapellm import remembered
from stratagem.prompting.templates.fact import PromptFact, TemplateScene, listed_fact, record_fact

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
    last = remembered(facts, scene.past)[1]
    if last is None:
        return None
    pair = facts.labels[last[0]], facts.their_labels[last[1]]
    return str(_cell(scene.game, facts.seat, *pair)[field])


def _occurrences(scene: TemplateScene) -> list[dict[str, Any]]:
    """Count each pair before the last round; nothing before the second round."""
    facts = scene.facts
    counts, _ = remembered(facts, scene.past)
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
