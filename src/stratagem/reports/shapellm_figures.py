"""What ShapeLLM printed of pairs that were trained together: reward a step, with its 95 % interval over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Printed(NamedTuple):
    """A row of a table."""

    source: str
    first: tuple[float, float]
    second: tuple[float, float]


SHAPED: Mapping[str, Printed] = {
    "ipd-shapellm": Printed("Table 1", (3.96, 0.01), (0.10, 0.04)),
    "imp": Printed("Table 1", (0.99, 0.01), (-0.99, 0.01)),
    "icg": Printed("Table 1", (2.98, 0.01), (1.01, 0.01)),
    "c-ipd": Printed("Table 3", (5.88, 0.03), (2.86, 0.02)),
    "ish": Printed("Table 3", (3.96, 0.02), (3.96, 0.02)),
}
BASELINE: Mapping[str, Printed] = {
    "ipd-shapellm": Printed("Table 1", (1.00, 0.00), (1.00, 0.00)),
    "imp": Printed("Table 1", (-0.03, 0.09), (0.03, 0.09)),
    "icg": Printed("Table 1", (2.00, 0.58), (2.00, 0.58)),
    "c-ipd": Printed("Table 3", (1.00, 0.00), (1.00, 0.00)),
    "ish": Printed("Table 3", (1.30, 0.52), (1.30, 0.52)),
}
ENRICHED: Mapping[str, Printed] = {
    "ipd-shapellm": Printed("Table 10", (1.00, 0.00), (1.00, 0.00)),
    "imp": Printed("Table 10", (-0.05, 0.09), (0.05, 0.09)),
    "icg": Printed("Table 10", (2.60, 0.76), (1.38, 0.74)),
}


def printed(game: str, seats: Any) -> Printed | None:
    """The paper's figures for a pair like this one; None where it has none, or the seats are the other way round."""
    if not isinstance(seats, Mapping) or not all(isinstance(seat, Mapping) for seat in seats.values()):
        return None
    kinds = [str(seat.get("learner")) for seat in seats.values()]
    first: Mapping[str, Any] = next(iter(seats.values()), {})
    if kinds == ["shaper", "naive"]:
        return SHAPED.get(game)
    if kinds != ["naive", "naive"]:
        return None
    return (ENRICHED if first.get("memory") == "episode" else BASELINE).get(game)
