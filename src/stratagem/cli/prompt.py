"""`stratagem prompt`: the exact prompts of a model, turn by turn."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.prompts import prompt as show_prompts
from stratagem.cli import completion, options
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.prompting.catalogue import style_names
from stratagem.show.console import Text


def prompt(
    game: Annotated[str, typer.Argument(help="Game.", autocompletion=completion.games)],
    style: Annotated[
        str,
        typer.Option(
            help=f"Prompt style: {', '.join(style_names())}; or template:FILE.txt.", autocompletion=completion.styles
        ),
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
    """Print the prompts of the first turns of a game; the prefix shared with the previous prompt is dim.

    Of a template the last lines say which facts of the game it leaves out.
    """
    shown = show_prompts(game, style, turns=turns, model=model, disguised_as=disguised_as, seed=seed)
    if json:
        print_json(shown.to_json())
        return
    for title, one in zip(shown.titles(), shown.prompts, strict=True):
        out.print(Text(title, style="bold"))
        begun, new = "".join(one.pieces[: one.shared]), "".join(one.pieces[one.shared :])
        out.print(Text(begun, style="dim") + Text(new, style="green"))
        out.print()
    for sentence in shown.untold:
        out.print(Text(sentence, style="yellow"))
