"""`stratagem verify-game`: checks of a game against its declaration."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.games.catalogue import make_game
from stratagem.games.conformance import verify
from stratagem.games.foreign.audit import AUDIT
from stratagem.games.foreign.catalogue import is_foreign, make_foreign
from stratagem.games.key import Key

_TRIES = 60
"""Number of episodes that are tried to find the smallest one that shows a fault."""


def verify_game(
    game: Annotated[str, typer.Argument(help="Game, or an environment such as textarena:KuhnPoker-v0.")],
    episodes: Annotated[int, typer.Option(min=1, help="Random episodes per check.")] = 30,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Check a game or an environment against its declaration, and against OpenSpiel where it has the game."""
    if is_foreign(game):
        report = verify(make_foreign(game), episodes=episodes, key=Key(seed), rules=AUDIT, tries=_TRIES)
    else:
        report = verify(make_game(game), episodes=episodes, key=Key(seed), tries=_TRIES)
    print_json(report.to_json()) if json else out.print(str(report), markup=False, highlight=False)
    if not report.ok:
        raise typer.Exit(1)
