"""Facts of OpenSpiel's games for a template: the moves so far, the board, and what a seat holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from stratagem.games.spiel.history import replay
from stratagem.games.spiel.rules import SpielRules
from stratagem.language.prompting.templates.fact import PromptFact, TemplateScene, listed_fact, record_fact

_MOVE = {"own": "Whether it was one's own.", "action": "The action."}
Moves = Callable[[TemplateScene], Iterator[dict[str, Any]]]


def _public_moves(scene: TemplateScene) -> Iterator[dict[str, Any]]:
    """Yield the moves of a game that hides nothing."""
    game: SpielRules = scene.game
    for node, mover, actions in replay(game.engine, scene.facts.position().history()):
        if mover >= 0 and actions:
            yield {"own": mover == scene.view.seat, "action": game.menu(node, mover).name(actions[0])}


def _bids(scene: TemplateScene) -> Iterator[dict[str, Any]]:
    """Yield the bids of liar's dice, in turn."""
    for number, bid in enumerate(scene.facts.information.split()[1:]):
        yield {"own": number % 2 == scene.view.seat, "action": scene.game.look.action(bid)}


def _bets(scene: TemplateScene) -> Iterator[dict[str, Any]]:
    """Yield the bets of a hand of Kuhn poker, in turn."""
    for number, bet in enumerate(scene.facts.information[1:]):
        yield {"own": number % 2 == scene.view.seat, "action": {"p": "PASS", "b": "BET"}[bet]}


def _facts_of_moves(moves: Moves) -> tuple[PromptFact, ...]:
    def by(scene: TemplateScene, own: bool) -> list[str]:
        return [move["action"] for move in moves(scene) if move["own"] is own]

    return (
        record_fact("moves", "Moves so far, in order.", moves, _MOVE),
        listed_fact("own_moves", "Own moves so far.", lambda scene: by(scene, True)),
        listed_fact("other_moves", "The other player's moves so far.", lambda scene: by(scene, False)),
        PromptFact(
            "last_other_move",
            "The other player's last move; empty before it.",
            lambda scene: next(iter(by(scene, False)[::-1]), None),
        ),
    )


def _board(scene: TemplateScene) -> str:
    """Return the position in the game's words, without the sentence about the turn."""
    text = scene.view.situation
    return text.rpartition("\n")[0] or text


def _numbers(scene: TemplateScene) -> list[str]:
    return re.findall(r"\d+", scene.facts.observation)


def _piles(scene: TemplateScene) -> list[str]:
    piles: list[str] = scene.facts.observation.split(": ")[1].split()
    return piles


def _value(scene: TemplateScene) -> str:
    values: dict[str, str] = dict(re.findall(r"(val|bid) (\d+)", scene.facts.information))
    return values["val"]


_DICE_MOVES = _facts_of_moves(_bids)
_KUHN_MOVES = _facts_of_moves(_bets)
_PUBLIC_MOVES = _facts_of_moves(_public_moves)
_BOARD = PromptFact("board", "The board, with its rows and columns labelled.", _board)
_GRIDS = ("tic-tac-toe", "connect-four", "breakthrough", "breakthrough-6x6")
_BY_GAME: dict[str, tuple[PromptFact, ...]] = {
    **dict.fromkeys(_GRIDS, (_BOARD,)),
    "nim": (listed_fact("piles", "Number of objects of each pile.", _piles),),
    "pig": (
        PromptFact("score", "Own score.", lambda scene: _numbers(scene)[scene.view.seat]),
        PromptFact("other_score", "The other player's score.", lambda scene: _numbers(scene)[1 - scene.view.seat]),
        PromptFact("turn_total", "Total of this turn.", lambda scene: _numbers(scene)[2]),
    ),
    "kuhn-spiel": (
        PromptFact("card", "Own card.", lambda scene: "JQK"[int(scene.facts.information[0])]),
        *_KUHN_MOVES,
    ),
    "liars-dice": (PromptFact("die", "Own die.", lambda scene: scene.facts.information.split()[0]), *_DICE_MOVES),
    "blind-auction": (PromptFact("value", "Value of the item to this seat.", _value),),
}
"""Further facts by the name of the game."""
_EVERY_GAME = (
    PromptFact("observation", "Observation of the seat in OpenSpiel's words.", lambda scene: scene.facts.observation),
    PromptFact("information", "Information state in OpenSpiel's words.", lambda scene: scene.facts.information),
)


def spiel_facts(game: SpielRules) -> tuple[PromptFact, ...]:
    """Return the facts of a game; moves are told where nothing is hidden, and where the seats see all moves."""
    public = game.engine.perfect and not game.spec.simultaneous
    return (*_EVERY_GAME, *(_PUBLIC_MOVES if public else ()), *_BY_GAME.get(game.spec.name, ()))
