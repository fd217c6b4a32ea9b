"""Initial policies of ShapeLLM: probabilities of the first action in the five states of a memory-one policy.

The states are: before the first round, and after each joint action (own action, other's action) = (1, 1), (1, 2),
(2, 1), (2, 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from stratagem.evaluation.labels import Labels

FiveStates = tuple[float, float, float, float, float]
"""A probability for each of the five states."""
_TABLE = "ShapeLLM, Table 14"
_FIGURE = "assumed: ShapeLLM's Figure 2 begins with much cooperation under the labels C/D and prints no number"
_RECIPROCAL = "assumed: a seat that mostly answers in kind; nothing is printed of what gemma makes of the counts"
_NOTHING = "assumed: nothing is printed of these labels"


@dataclass(frozen=True)
class InitialPolicy:
    """Table of target probabilities by state."""

    game: str
    labels: Labels
    first: FiveStates
    """Probabilities of the first action in the five states; the second action has the rest, other tokens have 0."""
    source: str
    """Source of the numbers: a table of the paper, or an assumption."""


INITIAL_POLICIES: MappingProxyType[str, InitialPolicy] = MappingProxyType(
    {
        "ipd-75": InitialPolicy("ipd-shapellm", ("H", "K"), (0.60, 0.89, 0.89, 0.70, 0.68), f"{_TABLE} (a)"),
        "ipd-50": InitialPolicy("ipd-shapellm", ("N", "Y"), (0.68, 0.38, 0.87, 0.58, 0.77), f"{_TABLE} (a)"),
        "ipd-25": InitialPolicy("ipd-shapellm", ("I", "X"), (0.12, 0.21, 0.75, 0.34, 0.24), f"{_TABLE} (a)"),
        "imp-75": InitialPolicy("imp", ("S", "Y"), (0.71, 0.78, 0.87, 0.57, 0.70), f"{_TABLE} (b)"),
        "imp-50": InitialPolicy("imp", ("N", "Y"), (0.48, 0.32, 0.60, 0.56, 0.66), f"{_TABLE} (b)"),
        "imp-25": InitialPolicy("imp", ("N", "M"), (0.30, 0.20, 0.36, 0.13, 0.18), f"{_TABLE} (b)"),
        "icg-75": InitialPolicy("icg", ("T", "K"), (0.61, 0.90, 0.87, 0.82, 0.82), f"{_TABLE} (c)"),
        "icg-50": InitialPolicy("icg", ("N", "M"), (0.41, 0.40, 0.71, 0.37, 0.61), f"{_TABLE} (c)"),
        "icg-25": InitialPolicy("icg", ("T", "F"), (0.24, 0.47, 0.47, 0.02, 0.11), f"{_TABLE} (c)"),
        "ipd-cooperative": InitialPolicy("ipd-shapellm", ("C", "D"), (0.85, 0.85, 0.85, 0.85, 0.85), _FIGURE),
        "ipd-reciprocal": InitialPolicy("ipd-shapellm", ("C", "D"), (0.85, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
        "c-ipd-cooperative": InitialPolicy("c-ipd", ("C", "D"), (0.85, 0.85, 0.85, 0.85, 0.85), _FIGURE),
        "c-ipd-reciprocal": InitialPolicy("c-ipd", ("C", "D"), (0.85, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
        "imp-even": InitialPolicy("imp", ("H", "T"), (0.5, 0.5, 0.5, 0.5, 0.5), _NOTHING),
        "imp-reciprocal": InitialPolicy("imp", ("H", "T"), (0.5, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
        "icg-even": InitialPolicy("icg", ("S", "G"), (0.5, 0.5, 0.5, 0.5, 0.5), _NOTHING),
        "icg-reciprocal": InitialPolicy("icg", ("S", "G"), (0.5, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
        "ish-even": InitialPolicy("ish", ("S", "H"), (0.5, 0.5, 0.5, 0.5, 0.5), _NOTHING),
        "ish-reciprocal": InitialPolicy("ish", ("S", "H"), (0.5, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
    }
)
"""Initial policies by name; a number in a name is the probability, in percent, for which the paper chose the labels."""
