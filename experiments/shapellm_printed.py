"""Published rewards of ShapeLLM's trained pairs: reward per step, with its 95 % interval over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stratagem.base.registry import parse_call
from stratagem.sweeps.reproduction.published import file_of, read_paper

Pay = tuple[float, float]


class Printed(NamedTuple):
    """A mean and the half of its interval for each seat, as some table has it."""

    source: str
    first: Pay
    second: Pay


TABLES = ("1", "2", "3", "10", "16")
"""Tables with an interval for each mean; of Table 11 no more than single means can be read."""
GAMES = {"c-ipd": "c-ipd", "ipd": "ipd-shapellm", "imp": "imp", "icg": "icg", "ish": "ish"}
"""Games by the beginnings of the names of runs."""
RUNS: Mapping[str, str] = {
    **{kind: kind for kind in ("shaper", "baseline", "75", "50", "25", "enriched")},
    "enriched-labels": "enriched 50",
    "state-only": "state only",
    "episode-only": "episode only",
}
"""Experiments by the ends of the names of their runs in the published tables."""


def printed_pairs() -> Iterator[tuple[tuple[str, str], Printed]]:
    """Yield game and experiment, with the figures of their row of a published table."""
    paper = read_paper(file_of("shapellm"))
    for table in map(paper.table, TABLES):
        for row in table.rows:
            game = next(name for name in GAMES if row.run.startswith(f"{name}-"))
            first, second = map(_pay, row.published)
            experiment = RUNS[row.run.removeprefix(f"{game}-")]
            yield (GAMES[game], experiment), Printed(f"Table {table.id}", first, second)


def _pay(text: str) -> Pay:
    mean, half = text.split("±")
    return float(mean), float(half)


PRINTED = dict(printed_pairs())
"""By game and experiment."""

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
