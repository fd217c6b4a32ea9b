"""`stratagem leaderboard`: agents of several audits by one figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from stratagem.api.audits import rank_audits
from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json


def leaderboard(
    audits: Annotated[list[Path], typer.Argument(help="Folders of audits, or their cards.")],
    figure: Annotated[str, typer.Option(help="Figure by which agents are ranked.")] = "kuhn.exploitability",
    json: options.Json = False,
) -> None:
    """Rank the agents of several audits by one figure, each with the ranks that its limits allow."""
    ranking = rank_audits(audits, figure)
    if json:
        print_json(ranking.to_json())
        return
    out.print(Text(repr(ranking)), soft_wrap=True)
    out.print("A rank is an interval: the limits of the figures allow each rank in it.", highlight=False)
