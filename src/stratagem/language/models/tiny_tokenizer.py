"""Tokenizer of the tiny models: byte-level BPE, trained on the games' texts.

Digits and line breaks stand alone and nothing is merged across them, so numbers and lines of a sheet are spelt in one
way wherever they stand. Every byte is a token, so every capital letter is one and every text comes back unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from stratagem.games.base import Game
from stratagem.games.catalogue import make_game, usual_of
from stratagem.games.key import Key
from stratagem.games.playthrough import GOLDEN, playthrough
from stratagem.games.random_play import random_views
from stratagem.language.models.bpe import digest_texts, trained_tokenizer
from stratagem.language.models.reference import BadModel

VOCABULARY = 2048
"""Largest size of the vocabulary; the texts have fewer pieces that can be merged."""
_READ = (
    *("ipd", "ipd-shapellm", "imp", "icg", "ish", "c-ipd", "prisoners-dilemma", GOLDEN["matrix"], "auction"),
    *("negotiation-v1", "negotiation-v2", "kuhn", "tic-tac-toe", "connect-four", "breakthrough", "breakthrough-6x6"),
    *("nim", "pig", "kuhn-spiel", "leduc", "liars-dice", "blind-auction", "bargaining", "goofspiel"),
    *(GOLDEN["ipd-continued"], GOLDEN["auction-3"], GOLDEN["spiel-kuhn-3"]),
)
"""Games whose texts it is trained on, in this order.

A new game is left out, or every result of `tiny` would be another model's; its words are spelt in smaller pieces.
"""
_EPISODES, _SHOWN = 3, 24
DIGEST = "23082e3d"
"""`texts_digest()`, held by a test: to play these games at each start would load OpenSpiel and take 0.1 s."""
_PIECES = r"\n|\p{N}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|[^\S\n]+"


@lru_cache(maxsize=1)
def game_texts() -> tuple[str, ...]:
    """Return the texts of these games: a playthrough, the rules, and situations and actions of random play."""
    return tuple(text for name in _READ for text in texts_of(make_game(name)))


def texts_of(game: Game[Any]) -> Iterator[str]:
    """Yield the texts of a game.

    Its summary is that of the default parameters, as it was when the models were made.
    """
    usual = usual_of(game.spec.name) or game
    yield playthrough(game, Key(_EPISODES)).replace(game.spec.summary, usual.spec.summary, 1)
    start = game.start(Key(0))
    yield from (start.view(seat).rules for seat in range(game.spec.seats))
    for episode in range(_EPISODES):
        yield from _episode(game, Key(episode))


def _episode(game: Game[Any], key: Key) -> Iterator[str]:
    for view in random_views(game.start(key), key.at("player")):
        yield view.situation
        yield "\n".join(islice(view.choices, _SHOWN))


def texts_digest() -> str:
    """Return the digest of these texts."""
    return digest_texts(game_texts(), _PIECES, VOCABULARY)


def train_tokenizer() -> Any:
    """Train the tokenizer; the same to the byte in every process.

    Refused where a game has other texts: what is made is kept under the name of the digest, for every process.
    """
    if texts_digest() != DIGEST:
        raise BadModel(
            "The tiny and base models are made from texts of the games, and in this process these are others: make the "
            "model once where no package or program changes a game."
        )
    return trained_tokenizer(game_texts(), _PIECES, VOCABULARY)
