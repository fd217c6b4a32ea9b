"""Models that two cores can train, with random weights until SFT: three sizes for all games, and one for Diplomacy.

`base` models have the tokenizer of `tiny`, in which a card, a square and a digit are one token each. The tokenizer of
`small` is trained on the texts of Diplomacy, in which a province is one token, so that a board is about two hundred
tokens and an order five; other games are spelt in small pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from stratagem.base.cache import cached_folder
from stratagem.games.catalogue import make_game
from stratagem.games.diplomacy.graph import graph_of
from stratagem.language.models.bpe import digest_texts, trained_tokenizer
from stratagem.language.models.drawn import Size, draw_model, llama
from stratagem.language.models.tiny_tokenizer import DIGEST, texts_of, train_tokenizer

VERSION = 1
"""Version of the model; raised when a new one would differ from a cached one."""
VOCABULARY = 1024
SIZE = Size(width=256, layers=4, heads=8)
_SEED = 20
"""Any number would do; with another one each result of this model would be another model's."""
_GAMES = ("diplomacy(judged=False)", "diplomacy(judged=False, only=[FRANCE, GERMANY])")
_PIECES = r"\n|\p{N}| ?[A-Z]{3}/[NSEW]C| ?\p{L}+| ?[^\s\p{L}\p{N}]+|[^\S\n]+"
_WEIGHT = 500
"""Number of repetitions of each place name, so that it is merged before any other word."""


@lru_cache(maxsize=1)
def game_texts() -> tuple[str, ...]:
    """Return the texts of the games, and the names of all places as in an order."""
    texts = (text for game in _GAMES for text in texts_of(make_game(game)))
    return (*texts, *_places())


def _places() -> Iterator[str]:
    for node in graph_of("standard").nodes:
        yield f" {node[2:]}" * _WEIGHT


def small_folder() -> Path:
    """Return the folder of the model, made if it is not cached."""
    digest = digest_texts(game_texts(), _PIECES, VOCABULARY)
    return cached_folder(f"small-v{VERSION}-{digest}", _make)


def _make(folder: Path) -> None:
    tokenizer = trained_tokenizer(game_texts(), _PIECES, VOCABULARY)
    draw_model(llama(SIZE, len(tokenizer)), tokenizer, folder, _SEED)


BASE_VERSION = 1
"""Version of the models; raised when a new one would differ from a cached one."""
SIZES = {"base": Size(256, 4, 8), "base-10m": Size(320, 8, 10), "base-25m": Size(512, 8, 8)}
"""Sizes by name: 3.8, 11.2 and 28.1 million weights."""


def base_folder(name: str) -> Path:
    """Return the folder of a model, made if it is not cached."""
    return cached_folder(f"{name}-v{BASE_VERSION}-{DIGEST}", lambda folder: _make_base(SIZES[name], folder))


def _make_base(size: Size, folder: Path) -> None:
    tokenizer = train_tokenizer()
    draw_model(llama(size, len(tokenizer)), tokenizer, folder, _SEED)
