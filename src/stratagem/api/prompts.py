"""Prompts: `prompt` shows what a model reads in the first turns of a game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

from stratagem.api.arguments import as_text
from stratagem.api.mistakes import one_sentence
from stratagem.api.result import Result
from stratagem.base.errors import WrongKind
from stratagem.base.options import check_seed, whole
from stratagem.games.base import Game, Json, View
from stratagem.games.disguise import generate_disguise, read_disguise
from stratagem.games.key import Key
from stratagem.games.random_play import random_views
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.language.prompting.catalogue import make_style
from stratagem.language.prompting.templates.coverage import find_omissions
from stratagem.players.given import GameLike, allow_given, as_game
from stratagem.show.table import ResultTable, text_table

_MOST_DIGITS = 20
"""Digits of a seed; a longer number is the name of a file."""
_EPISODES, _MOST_TURNS = 10, 20
"""Episodes of random moves, and turns of each, whose prompts are searched for situations that are told alike."""

__all__ = ["Prompts", "TurnPrompt", "prompt"]


@dataclass(frozen=True)
class TurnPrompt:
    """Prompt of one turn, in pieces: characters, or the tokens of a model."""

    messages: tuple[ChatMessage, ...]
    pieces: tuple[str, ...]
    shared: int
    """Number of pieces at the beginning that the prompt before it has, too."""


@dataclass(frozen=True, repr=False)
class Prompts(Result):
    """Prompts of the first turns of a game of random moves. They are texts, so there is no picture."""

    prompts: tuple[TurnPrompt, ...]
    """Messages of each turn, cut into pieces."""
    unit: str
    """Unit of the pieces: characters or tokens."""
    untold: tuple[str, ...] = ()
    """Sentences on what a template leaves out: facts that it never names, and situations that it tells alike."""

    def titles(self) -> list[str]:
        """Return for each turn the length of its prompt, and the share that the prompt before it has, too."""
        return [
            f"turn {number}: {len(one.pieces)} {self.unit}"
            + (f", {one.shared / len(one.pieces):.0%} shared with the previous prompt" if number > 1 else "")
            for number, one in enumerate(self.prompts, 1)
        ]

    def rows(self) -> list[Json]:
        """Return one row for each message."""
        return [
            {"turn": number, **message._asdict()}
            for number, one in enumerate(self.prompts, 1)
            for message in one.messages
        ]

    def to_json(self) -> list[list[Json]]:
        """Return the messages of each turn, as `stratagem prompt --json` prints them."""
        return [[message._asdict() for message in one.messages] for one in self.prompts]

    def tables(self) -> list[ResultTable]:
        return [
            text_table(title, ("role", "content"), [(m.role, m.content) for m in one.messages])
            for title, one in zip(self.titles(), self.prompts, strict=True)
        ]


@one_sentence
def prompt(
    game: GameLike,
    style: str | Style = "plain",
    *,
    turns: int = 3,
    model: str | None = None,
    disguised_as: str | int | None = None,
    seed: int = 0,
) -> Prompts:
    """Show the prompts of the first turns of a game; the prefix shared with the previous prompt is dim.

    Of a template the last lines say which facts of the game it leaves out.

    Args:
        game: Game.
        style: Prompt style, such as plain, reasoned, brief, bare, gtbench or sepo-paper, or template:FILE.txt.
        turns: Number of turns of a game of random moves.
        model: Model, such as `tiny`, whose tokens are shown.
        disguised_as: Disguise by its seed or file: the prompts are in other words.
        seed: Seed of all randomness.
    """
    whole("prompt", "turns", turns, 1)
    check_seed(seed)
    made, words = as_game(game), _style(style)
    seen = _viewer_of(disguised_as, made)
    state = made.start(Key(seed).at("chance"))
    shown = [words.messages(seen(view)) for view in islice(random_views(state, Key(seed).at("turn"), turns), turns)]
    cut = _characters if model is None else _tokens(as_text(model, "model"))
    plain = () if disguised_as is not None else find_omissions(words, _many(made, seed))
    return Prompts(tuple(_compare_prompts(shown, cut)), "characters" if model is None else "tokens", tuple(plain))


def _many(game: Game[Any], seed: int) -> Iterator[View[Any]]:
    """Yield what seats see in some episodes of random moves."""
    for number in range(_EPISODES):
        key = Key(seed).at("untold", number)
        yield from islice(random_views(game.start(key.at("chance")), key.at("turn"), _MOST_TURNS), _MOST_TURNS)


def _style(given: str | Style) -> Style:
    if isinstance(given, Style):
        return given
    if not isinstance(given, str):
        raise WrongKind("prompt style", "a name such as `plain`, or a Style", given)
    allow_given(given)
    return make_style(given)


def _viewer_of(disguised_as: str | int | None, game: Game[Any]) -> Callable[[View[Any]], View[Any]]:
    """Return the function from a plain view to what a player sees."""
    if disguised_as is None:
        return lambda view: view
    if type(disguised_as) not in (int, str):
        raise WrongKind("disguise", "its seed, or a file", disguised_as)
    text = str(disguised_as)
    is_seed = text.isdecimal() and len(text) < _MOST_DIGITS
    return (generate_disguise(game, int(text)) if is_seed else read_disguise(text, game)).view


def _compare_prompts(
    shown: list[list[ChatMessage]], cut: Callable[[list[ChatMessage]], list[str]]
) -> Iterator[TurnPrompt]:
    """Cut the prompts into pieces, and compare each with the one before it."""
    before: list[str] = []
    for messages in shown:
        pieces = cut(messages)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, pieces, strict=False)))
        yield TurnPrompt(tuple(messages), tuple(pieces), shared)
        before = pieces


def _characters(messages: list[ChatMessage]) -> list[str]:
    return list("\n".join(f"[{message.role}]\n{message.content}" for message in messages))


def _tokens(model: str) -> Callable[[list[ChatMessage]], list[str]]:
    """Cut a conversation, with its template and special tokens, into tokens."""
    from stratagem.language.models.load import load  # loads torch

    loaded = load(model)
    return lambda messages: [loaded.tokenizer.decode([t]) for t in loaded.chat([m._asdict() for m in messages])]
