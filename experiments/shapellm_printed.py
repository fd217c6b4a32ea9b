"""Published rewards of ShapeLLM's trained pairs: reward per step, with its 95 % interval over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stratagem.registry import parse_call

Pay = tuple[float, float]


class Printed(NamedTuple):
    """A mean and the half of its interval for each seat, as some table has it."""

    source: str
    first: Pay
    second: Pay


PRINTED: Mapping[tuple[str, str], Printed] = {
    ("ipd-shapellm", "shaper"): Printed("Table 1", (3.96, 0.01), (0.10, 0.04)),
    ("imp", "shaper"): Printed("Table 1", (0.99, 0.01), (-0.99, 0.01)),
    ("icg", "shaper"): Printed("Table 1", (2.98, 0.01), (1.01, 0.01)),
    ("c-ipd", "shaper"): Printed("Table 3", (5.88, 0.03), (2.86, 0.02)),
    ("ish", "shaper"): Printed("Table 3", (3.96, 0.02), (3.96, 0.02)),
    ("ipd-shapellm", "baseline"): Printed("Table 1", (1.00, 0.00), (1.00, 0.00)),
    ("imp", "baseline"): Printed("Table 1", (-0.03, 0.09), (0.03, 0.09)),
    ("icg", "baseline"): Printed("Table 1", (2.00, 0.58), (2.00, 0.58)),
    ("c-ipd", "baseline"): Printed("Table 3", (1.00, 0.00), (1.00, 0.00)),
    ("ish", "baseline"): Printed("Table 3", (1.30, 0.52), (1.30, 0.52)),
    ("ipd-shapellm", "75"): Printed("Table 2", (3.99, 0.01), (0.01, 0.02)),
    ("ipd-shapellm", "50"): Printed("Table 2", (3.95, 0.01), (0.04, 0.03)),
    ("ipd-shapellm", "25"): Printed("Table 2", (3.98, 0.02), (0.07, 0.07)),
    ("imp", "75"): Printed("Table 2", (0.96, 0.02), (-0.96, 0.02)),
    ("imp", "50"): Printed("Table 2", (0.99, 0.01), (-0.99, 0.01)),
    ("imp", "25"): Printed("Table 2", (0.99, 0.01), (-0.99, 0.01)),
    ("icg", "75"): Printed("Table 2", (3.00, 0.00), (1.00, 0.00)),
    ("icg", "50"): Printed("Table 2", (2.99, 0.01), (1.01, 0.01)),
    ("icg", "25"): Printed("Table 2", (2.95, 0.01), (1.05, 0.01)),
    ("ipd-shapellm", "enriched"): Printed("Table 10", (1.00, 0.00), (1.00, 0.00)),
    ("imp", "enriched"): Printed("Table 10", (-0.05, 0.09), (0.05, 0.09)),
    ("icg", "enriched"): Printed("Table 10", (2.60, 0.76), (1.38, 0.74)),
    ("icg", "enriched 50"): Printed("Table 10", (1.00, 0.00), (3.00, 0.00)),
    ("ipd-shapellm", "state only"): Printed("Table 16", (0.99, 0.00), (1.02, 0.01)),
    ("ipd-shapellm", "episode only"): Printed("Table 16", (0.99, 0.01), (1.02, 0.02)),
}
"""By game and experiment. Of Table 11, the other prompts, no more than single means can be read."""

LABELS: Mapping[tuple[str, str], str] = {
    ("ipd-shapellm", "HK"): "75",
    ("ipd-shapellm", "NY"): "50",
    ("ipd-shapellm", "IX"): "25",
    ("imp", "SY"): "75",
    ("imp", "NY"): "50",
    ("imp", "NM"): "25",
    ("icg", "TK"): "75",
    ("icg", "NM"): "50",
    ("icg", "TF"): "25",
}
"""The opponents of Table 13: labels, and about how often they begin with their first action, in %."""

MEMORIES: Mapping[str, str] = {"trial": "shaper", "episode": "episode only", "last": "state only"}
"""A shaper by what it is told."""


def printed(game: str, seats: Any) -> Printed | None:
    """The paper's figures for a pair like this one; None where it has none, or the seats are the other way round."""
    named = parse_call(game)
    if not isinstance(seats, Mapping) or not all(isinstance(seat, Mapping) for seat in seats.values()):
        return None
    told = experiment(list(seats.values()))
    labels = named.kwargs.get("labels_second") or named.kwargs.get("labels") or ()
    opponent = LABELS.get((named.name, "".join(map(str, labels))))
    if opponent and told:
        told = opponent if told == "shaper" else f"{told} {opponent}"
    return PRINTED.get((named.name, told)) if told else None


def experiment(seats: Sequence[Mapping[str, Any]]) -> str | None:
    """Which of the paper's experiments a pair of seats is; None for a prompt, a pay or a pair that has no table."""
    kinds = [str(seat.get("learner")) for seat in seats]
    if len({seat.get("model") or "" for seat in seats}) > 1 or any(map(_unlike, seats)):
        return None
    memory = str(seats[0].get("memory", "trial" if kinds[0] == "shaper" else "last"))
    if kinds == ["shaper", "naive"]:
        return MEMORIES.get(memory)
    return {"last": "baseline", "episode": "enriched"}.get(memory) if kinds == ["naive", "naive"] else None


def _unlike(seat: Mapping[str, Any]) -> bool:
    style = str(seat.get("style", ""))
    return "payoffs=" in style or "switched=" in style or seat.get("reward", "own") != "own"
