"""Interaction data of the runs of experiments/scopal.py, and their play in kuhn: SCO-PAL's Tables 8, 9 and 10.

Their lines in Markdown, as experiments/scopal_table.py prints them, from what a run keeps beside its evaluation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from result_tables import Row, markdown

from stratagem.measure.equilibria import kuhn_family

PLAYED = ("samples", "valid", "rows", "unique_actions", "advantageous", "ratio")
HEADS = ("samples", "valid", "rows", "actions", "advantageous", "ratio")
OPENING = [place for place in kuhn_family().places if place.key.endswith(":")]
"""SCO-PAL's published probability that the first to act bets in kuhn, by card."""


def played(path: Path) -> Row:
    """Summarise a run's first games, by game and in total; empty for a run that used another run's games."""
    summary = path / "steps" / "0.json"
    if not summary.is_file():
        return {"played": None}
    data = json.loads(summary.read_text(encoding="utf-8"))
    return {"played": data["all"], "by_game": data["games"]}


def policies(path: Path, stages: Sequence[str]) -> dict[str, Any]:
    """By stage, how often the first to act bets in kuhn, by card, and how far all twelve situations are from it."""
    files = sorted((path / "policies").glob("kuhn-*.json"))
    read = [json.loads(file.read_text(encoding="utf-8"))["policy"] for file in files]
    if len(read) != len(stages):
        return {}
    return {stage: _against(policy) for stage, policy in zip(stages, read, strict=True)}


def _against(policy: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    alpha = kuhn_family().nearest(policy)
    bets = {place.label: place.probability_in(policy) for place in OPENING}
    return {
        **{card: bet for card, bet in bets.items() if bet is not None},
        "alpha": alpha,
        "distance": kuhn_family().distance(policy),
    }


def samples(data: Mapping[str, Sequence[Row]]) -> str:
    """Summarise the games of each run, of its lowest seed."""
    summaries = {name: runs[0]["played"] for name, runs in data.items()}
    return _samples({name: summary for name, summary in summaries.items() if summary})


def by_game(run: Row) -> str:
    """Summarise the games of one run, game by game."""
    return _samples({**run["by_game"], "all": run["played"]})


def _samples(summaries: Mapping[str, Mapping[str, float]]) -> str:
    return markdown(["", *HEADS], (_row(name, [own[key] for key in PLAYED]) for name, own in summaries.items()))


def kuhn(run: Row) -> str:
    """Format the probability that the first to act bets, by card, and the mean distance from equilibrium."""
    cards = [place.label for place in OPENING]
    rows = [
        _row(stage, [*(figures[card] for card in cards), figures["distance"], figures["alpha"]])
        for stage, figures in run["kuhn"].items()
    ]
    rows.append(_row("equilibria, from", [*(place.low for place in OPENING), 0.0, 0.0]))
    rows.append(_row("to", [*(place.high for place in OPENING), 0.0, 1 / 3]))
    return markdown(["", *(f"{card} bets" for card in cards), "distance", "alpha"], rows)


def _row(name: str, values: Sequence[float]) -> list[str]:
    return [name, *(f"{value:.3f}" if isinstance(value, float) else f"{value:,}" for value in values)]
