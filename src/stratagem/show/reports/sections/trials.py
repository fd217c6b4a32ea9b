"""Section of learners over their trials: rewards, joint actions, policies and entropy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stratagem.measure.figures.training import NATS, SHARE
from stratagem.show.html import Html, element
from stratagem.show.reports.figure import NO_CHANCE, ONE_RUN, PictureFacts, count_noun, label, picture
from stratagem.show.reports.run_data import RunData, finite
from stratagem.show.reports.section import Section, missing
from stratagem.show.reports.sections.curves import vertical_axis
from stratagem.show.reports.siblings import band, runs_by_seed, values_by_step

PAY, VISITED, FIRST = "/payoff", "visited/", "/first/"


def trials(data: RunData) -> Section:
    """Make the section in the form of ShapeLLM's figures 2 and 3, for any number of seats."""
    runs = runs_by_seed(data)
    seeds = ", ".join(str(run.settings.get("seed", 0)) for run in runs)
    seeds_shown = "one seed, without a band" if len(runs) == 1 else f"means over the seeds {seeds} with 95 % bands"
    return Section(
        name="trials",
        title="Metrics over trials",
        shows=f"Rewards and actions of every learner by trial: {seeds_shown}. Runs in the same folder that differ only "
        "in the seed are combined.",
        body=_pictures(data, runs) if seats_of(data) else missing("No trial has been measured yet."),
    )


def seats_of(data: RunData) -> list[str]:
    """Return the measured seats by name, in order."""
    seats = data.settings.get("seats")
    return [name for name in seats if f"{name}{PAY}" in data.curves] if isinstance(seats, dict) else []


def _pictures(data: RunData, runs: Sequence[RunData]) -> Html:
    seats = seats_of(data)
    visited = [name for name in data.curves if name.startswith(VISITED)]
    shown = [
        _picture(
            "Reward per step",
            "Rounds with an illegal reply are left out.",
            runs,
            [(f"{name}{PAY}", name) for name in seats],
        )
    ]
    if visited:
        note = "Share of all rounds. The first seat\u2019s action stands first. Null is a round with an illegal reply."
        lines = [(name, name.removeprefix(VISITED)) for name in visited]
        shown.append(_picture("Joint actions", note, runs, lines))
    for name in seats:
        states = [metric for metric in data.curves if metric.startswith(f"{name}{FIRST}")]
        if states:
            note = (
                f"Probability that {name} plays its first action, by the last joint action (own action first). For a "
                "longer memory, the frequency in the trial."
            )
            shown.append(_picture(f"Policy of {name}", note, runs, [(m, m.rpartition("/")[2]) for m in states]))
    illegal = [(f"{name}/null", name) for name in seats if any(finite(data.curves.get(f"{name}/null")).values())]
    if illegal:
        shown.append(_picture("Null actions", "Share of turns with an illegal reply.", runs, illegal))
    entropy = [(f"{name}/entropy", name) for name in seats if f"{name}/entropy" in data.curves]
    if entropy:
        note = "Entropy of the policy, in nats per token. Near 0 the policy no longer explores."
        shown.append(_picture("Entropy", note, runs, entropy))
    return element("div", *shown, class_="facets")


def _picture(title: str, caption: str, runs: Sequence[RunData], lines: Sequence[tuple[str, str]]) -> Html:
    """Draw the means over seeds, with their bands behind."""
    by_name = {name: values_by_step(runs, metric) for metric, name in lines}
    ends = (-math.inf, math.inf) if lines[0][0].endswith(PAY) else (0.0, math.inf)
    ends = (0.0, 1.0) if any(part in lines[0][0] for part in (VISITED, FIRST, "/null")) else ends
    bands = [trace for by_step in by_name.values() for trace in _band(by_step, *ends)] if len(runs) > 1 else []
    means = [_mean(by_step, name, f"rival-{index % 6 + 1}") for index, (name, by_step) in enumerate(by_name.items())]
    layout = {"showlegend": True, **vertical_axis(ends == (0.0, 1.0))}
    return picture(title, [*bands, *means], layout, reading=_reading(lines[0][0], by_name, len(runs)), caption=caption)


def _reading(metric: str, by_name: Mapping[str, Mapping[int, list[float]]], num_runs: int) -> PictureFacts:
    unit = "points a step" if metric.endswith(PAY) else NATS if metric.endswith("/entropy") else SHARE
    trials = max(len(by_step) for by_step in by_name.values())
    return PictureFacts(
        unit,
        f"{count_noun(trials, 'trial')}, {count_noun(num_runs, 'seed')}",
        "95 % over seeds" if num_runs > 1 else ONE_RUN,
        NO_CHANCE,
    )


def _band(by_step: Mapping[int, list[float]], least: float, most: float) -> Iterator[dict[str, Any]]:
    """Draw a band, clipped to the possible values."""
    ends = [(max(least, low), min(most, high)) for low, high in map(band, by_step.values())]
    edge = {"x": list(by_step), "showlegend": False, "hoverinfo": "skip", "role": "edge"}
    yield {**edge, "y": [low for low, _ in ends]}
    yield {**edge, "y": [high for _, high in ends], "fill": "tonexty"}


def _mean(by_step: Mapping[int, list[float]], name: str, role: str) -> dict[str, Any]:
    means = [sum(values) / len(values) for values in by_step.values()]
    return {"x": list(by_step), "y": means, "role": role, "name": label(name), "mode": "lines"}
