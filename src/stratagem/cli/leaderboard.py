"""`stratagem leaderboard`: agents of several audits by one figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.audits import rank_audits
from stratagem.cli import options
from stratagem.cli.output import print_result


def leaderboard(
    audits: Annotated[list[Path], typer.Argument(help="Folders of audits, or their cards.")],
    figure: Annotated[str, typer.Option(help="Figure by which agents are ranked.")] = "kuhn.exploitability",
    json: options.Json = False,
) -> None:
    """Rank the agents of several audits by one figure, each with the ranks that its limits allow."""
    print_result(rank_audits(audits, figure), json=json)
