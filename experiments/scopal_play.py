"""Interaction data of the runs of experiments/scopal.py, and their play in kuhn: SCO-PAL's Tables 8, 9 and 10.

Their lines in Markdown, as experiments/scopal_table.py prints them, from what a run keeps beside its evaluation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stratagem.evaluation.equilibria import kuhn_family

Run = dict[str, Any]
PLAYED = ("samples", "valid", "rows", "unique_actions", "advantageous", "ratio")
HEADS = ("samples", "valid", "rows", "actions", "advantageous", "ratio")
OPENING = [place for place in kuhn_family().places if place.key.endswith(":")]
"""SCO-PAL's published probability that the first to act bets in kuhn, by card."""


def played(path: Path) -> Run:
    """Summarise a run's first games, by game and in total; empty for a run that used another run's games."""
    summary = path / "steps" / "0.json"
    if not summary.is_file():
        return {"played": None}
    told = json.loads(summary.read_text(encoding="utf-8"))
    return {"played": told["all"], "by_game": told["games"]}


def policies(path: Path, stages: Sequence[str]) -> dict[str, Any]:
    """By stage, how often the first to act bets in kuhn, by card, and how far all twelve situations are from it."""
    files = sorted((path / "policies").glob("kuhn-*.json"))
    kept = [json.loads(file.read_text(encoding="utf-8"))["policy"] for file in files]
    if len(kept) != len(stages):
        return {}
    return {stage: _against(policy) for stage, policy in zip(stages, kept, strict=True)}


def _against(policy: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    alpha = kuhn_family().nearest(policy)
    bets = {place.label: place.played(policy) for place in OPENING}
    return {
        **{card: bet for card, bet in bets.items() if bet is not None},
        "alpha": alpha,
        "distance": kuhn_family().distance(policy),
    }


def samples(data: Mapping[str, Sequence[Run]]) -> Iterator[str]:
    """Summarise the games of each run, of its lowest seed."""
    yield from _head("", HEADS)
    for name, runs in data.items():
        if told := runs[0]["played"]:
            yield _row(name, [told[key] for key in PLAYED])


def by_game(run: Run) -> Iterator[str]:
    """The same of one run, game by game."""
    yield from _head("", HEADS)
    for name, told in {**run["by_game"], "all": run["played"]}.items():
        yield _row(name, [told[key] for key in PLAYED])


def kuhn(run: Run) -> Iterator[str]:
    """Compute the probability that the first to act bets, by card, and the mean distance from equilibrium."""
    cards = [place.label for place in OPENING]
    yield from _head("", [*(f"{card} bets" for card in cards), "distance", "alpha"])
    for stage, told in run["kuhn"].items():
        yield _row(stage, [*(told[card] for card in cards), told["distance"], told["alpha"]])
    low, high = ([end(place) for place in OPENING] for end in (lambda one: one.low, lambda one: one.high))
    yield _row("equilibria, from", [*low, 0.0, 0.0])
    yield _row("to", [*high, 0.0, 1 / 3])


def _head(first: str, heads: Sequence[str]) -> Iterator[str]:
    yield f"| {' | '.join([first, *heads])} |"
    yield f"|{' --- |' * (1 + len(heads))}"


def _row(name: str, values: Sequence[float]) -> str:
    shown = [f"{value:.3f}" if isinstance(value, float) else f"{value:,}" for value in values]
    return f"| {name} | {' | '.join(shown)} |"
