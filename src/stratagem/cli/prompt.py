"""`stratagem prompt`: the exact prompts of a model, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import Annotated, Any

import typer
from rich.text import Text

from stratagem.cli import completion, options
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.games.base import Game, State, View
from stratagem.games.catalogue import make_game
from stratagem.games.disguise import generated, read_disguise
from stratagem.games.key import Key
from stratagem.prompting.base import Message
from stratagem.prompting.catalogue import make_style, style_names

_MOST_DIGITS = 20
"""Digits of a seed; a longer number is the name of a file."""


def views(state: State[Any], key: Key, count: int) -> Iterator[View[Any]]:
    """Yield the views of the seats to act over the first turns of a game of random legal moves."""
    for turn in range(count):
        if state.over:
            return
        yield from map(state.view, state.to_act)
        drawn = {seat: state.view(seat).choices.sample(key.at("turn", turn, seat)) for seat in state.to_act}
        state.play(drawn)


def prompt(
    game: Annotated[str, typer.Argument(help="Game.", autocompletion=completion.games)],
    style: Annotated[
        str, typer.Option(help=f"Prompt style: {', '.join(style_names())}.", autocompletion=completion.styles)
    ] = "plain",
    turns: Annotated[int, typer.Option(min=1, help="Number of turns of a game of random moves.")] = 3,
    model: Annotated[
        str | None,
        typer.Option(help="Print the tokens of this model, such as `tiny`.", autocompletion=completion.models),
    ] = None,
    disguised_as: Annotated[
        str | None, typer.Option(metavar="SEED|FILE", help="Disguise: print the prompts in other words.")
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Print the prompts of the first turns of a game; the prefix shared with the previous prompt is dim."""
    instance, prompt_style = make_game(game), make_style(style)
    state = instance.start(Key(seed).at("chance"))
    seen = _seen(disguised_as, instance)
    shown = [prompt_style.messages(seen(view)) for view in islice(views(state, Key(seed), turns), turns)]
    if json:
        print_json([[message._asdict() for message in messages] for messages in shown])
        return
    unit, cut = ("characters", _characters) if model is None else ("tokens", _tokens(model))
    before: list[str] = []
    for number, messages in enumerate(shown, 1):
        pieces = cut(messages)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, pieces, strict=False)))
        share = f", {shared / len(pieces):.0%} shared with the previous prompt" if before else ""
        out.print(Text(f"turn {number}: {len(pieces)} {unit}{share}", style="bold"))
        out.print(Text("".join(pieces[:shared]), style="dim") + Text("".join(pieces[shared:]), style="green"))
        out.print()
        before = pieces


def _seen(disguised_as: str | None, game: Game[Any]) -> Callable[[View[Any]], View[Any]]:
    """Return the function from a plain view to what a player sees."""
    if disguised_as is None:
        return lambda view: view
    is_seed = disguised_as.isdecimal() and len(disguised_as) < _MOST_DIGITS
    disguise = generated(game, int(disguised_as)) if is_seed else read_disguise(disguised_as, game)
    return disguise.view


def _characters(messages: list[Message]) -> list[str]:
    return list("\n".join(f"[{message.role}]\n{message.content}" for message in messages))


def _tokens(model: str) -> Callable[[list[Message]], list[str]]:
    """Show the tokens of a conversation, with its template and special tokens."""
    from stratagem.models.load import load  # loads torch

    loaded = load(model)
    return lambda messages: [loaded.tokenizer.decode([t]) for t in loaded.chat([m._asdict() for m in messages])]
