"""Vocabulary of a game: the words of its texts that a disguise renames.

A game declares it (`Game.vocabulary`). Where it does not, the words of its actions are found in sampled play.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game, State
from stratagem.games.disguise.substitution import WORDS, lemma
from stratagem.games.key import Key
from stratagem.games.random_play import random_turns

_WORD = re.compile(WORDS)
_EPISODES, _MOVES, _LISTED = 4, 200, 500
_SHORTEST = 3
"""Letters from which on a found word is renamed in any case and inflection."""
_COMMON = frozenset(
    _WORD.findall(
        "a all an and at both by each every for from i in into it its me my no none not nothing of off on one or other "
        "out over player round than that the their them then they this to turn two up with you your"
    )
)
"""Words of actions that carry the grammar, not the game."""


@lru_cache(maxsize=64)
def vocabulary_of(game: Game[Any]) -> tuple[str, ...]:
    """Return the declared vocabulary of a game, or that of its actions; refused where there is none."""
    words = tuple(game.vocabulary()) or _find_words(game)
    if not words:
        raise CannotCompute(f"{game.spec.name} has no words that a disguise could rename: its actions are numbers.")
    if odd := [word for word in words if not isinstance(word, str) or not lemma(word).strip()]:
        raise BadParameter(f"The vocabulary of {game.spec.name} has {odd[0]!r}: it must be a tuple of words.")
    if twice := next((word for word in words if words.count(word) > 1), None):
        raise BadParameter(f"The vocabulary of {game.spec.name} has {twice!r} twice.")
    return words


def _find_words(game: Game[Any]) -> tuple[str, ...]:
    """Return the words of all actions of sampled play."""
    found: dict[str, None] = {}
    for number in range(_EPISODES):
        for state in play_randomly(game, Key(number).at("vocabulary")):
            for seat in state.to_act:
                for action in islice(state.view(seat).choices, _LISTED):
                    found |= dict.fromkeys(map(entry_of, action_words(action)))
    return tuple(sorted(found))


def entry_of(word: str) -> str:
    """Return a word of an action as the vocabulary lists it."""
    return word.lower() if len(word) >= _SHORTEST else word


def action_words(action: str) -> list[str]:
    """Return the words of an action that carry a meaning of the game."""
    found = (match for match in _WORD.finditer(action) if not _is_sign(match))
    return [word for match in found if (word := match.group()).lower() not in _COMMON]


def _is_sign(match: re.Match[str]) -> bool:
    return match.group() == "x" and match.string[: match.start()][-1:].isdigit()


def play_randomly(game: Game[Any], key: Key) -> Iterator[State[Any]]:
    """Yield the states of an episode of random play, up to a bound."""
    state = game.start(key.at("table"))
    yield from (state for _ in random_turns(state, key.at("player"), _MOVES))


def known_words(game: Game[Any]) -> set[str]:
    """Return the words of a game's texts as far as its rules, first positions and vocabulary show them."""
    texts = [game.rules(seat) for seat in range(game.spec.seats)]
    for number in range(2):
        state = game.start(Key(number))
        texts += [state.view(seat).situation for seat in state.to_act]
    words = {word.lower() for text in texts for word in _WORD.findall(text)}
    return words | {lemma(word).lower() for word in vocabulary_of(game)}
