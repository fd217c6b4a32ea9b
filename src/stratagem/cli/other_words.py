"""Table of players in other words: payoff and illegal replies under each disguise, and the extent of the proof."""

from __future__ import annotations

from rich.console import Group

from stratagem.api.console import Text
from stratagem.cli.output import cell, number, table
from stratagem.cli.printed_names import printed_name
from stratagem.evaluation.evaluate import GameResult, Row
from stratagem.evaluation.memorisation import OtherWords
from stratagem.evaluation.metrics import METRICS, Sample
from stratagem.evaluation.metrics.payoff import mean_pay
from stratagem.evaluation.statistics import Estimate


def in_other_words(result: GameResult) -> Group:
    """Return a row for each player in plain words, and one for each of its disguises."""
    grid = table("  in other words", "player", "pay", "gap", "illegal", "the same game")
    for row in result.rows:
        if row.in_other_words:
            plain = Sample(result.game, tuple(row.matchups))
            pay = mean_pay(plain, scaled=True)
            name = Text(printed_name(row.player, result))
            grid.add_row(name, cell(pay), Text(), cell(METRICS["illegal"].measure(plain)), Text())
            for other in row.in_other_words:
                grid.add_row(*_cells(result, row, other))
    return Group(grid)


def _cells(result: GameResult, row: Row, other: OtherWords) -> list[Text]:
    sample = Sample(result.game, other.matchups)
    alone = Sample(result.game, row.matchups, (other.matchups,))
    gap: Estimate | None = METRICS["memorisation_gap"].measure(alone)
    return [
        Text(f"  {printed_name(other.player, result)}"),
        cell(mean_pay(sample, scaled=True)),
        Text("–" if gap is None else number(gap.mean)),
        cell(METRICS["illegal"].measure(sample)),
        Text(other.proof or "–"),
    ]
