"""`stratagem prompt`: the exact text that a model would get, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import Annotated, Any

import typer
from rich.text import Text

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.games.base import State, View
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.prompting.base import Message
from stratagem.prompting.catalogue import make_style, style_names


def views(state: State[Any], key: Key, count: int) -> Iterator[View[Any]]:
    """Yield the views of the seats to act over the first turns of a game of random legal moves."""
    for turn in range(count):
        if state.over:
            return
        yield from map(state.view, state.to_act)
        drawn = {seat: state.view(seat).choices.sample(key.at("turn", turn, seat)) for seat in state.to_act}
        state.play(drawn)


def prompt(
    game: Annotated[str, typer.Argument(help="The game.")],
    style: Annotated[str, typer.Option(help=f"How the turn is put into words: {', '.join(style_names())}.")] = "plain",
    turns: Annotated[int, typer.Option(min=1, help="How many turns of a game of random moves to show.")] = 3,
    model: Annotated[str | None, typer.Option(help="Show the tokens that this model gets, such as `tiny`.")] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Show the prompts of the first turns of a game; the part shared with the prompt before is dim."""
    made, words = make_game(game), make_style(style)
    state = made.start(Key(seed).at("chance"))
    shown = [words.messages(view) for view in islice(views(state, Key(seed), turns), turns)]
    if json:
        print_json([[message._asdict() for message in messages] for messages in shown])
        return
    unit, cut = ("characters", _characters) if model is None else ("tokens", _tokens(model))
    before: list[str] = []
    for number, messages in enumerate(shown, 1):
        pieces = cut(messages)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, pieces, strict=False)))
        share = f", {shared / len(pieces):.0%} shared with the one before" if before else ""
        out.print(Text(f"turn {number}: {len(pieces)} {unit}{share}", style="bold"))
        out.print(Text("".join(pieces[:shared]), style="dim") + Text("".join(pieces[shared:]), style="green"))
        out.print()
        before = pieces


def _characters(messages: list[Message]) -> list[str]:
    return list("\n".join(f"[{message.role}]\n{message.content}" for message in messages))


def _tokens(model: str) -> Callable[[list[Message]], list[str]]:
    """Show the tokens of a conversation, with its template and special tokens."""
    from stratagem.models.load import load  # loads torch

    loaded = load(model)
    return lambda messages: [loaded.tokenizer.decode([t]) for t in loaded.chat([m._asdict() for m in messages])]
