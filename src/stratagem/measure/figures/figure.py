"""Figure: the declaration of a quantity that is measured, the same in a terminal, in Python, on a page and in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower", "neither"]
"""Direction in which a figure is better."""
PAYOFF = "unit of the game"
"""Unit of figures that are payoffs a round: the table names it."""

RETURN = "unit of the game, an episode"
"""Unit of figures that are returns, which are sums over the game; the table names the unit of the game."""
OF_PAYOFFS = "points on the common scale, or the game's unit"
"""Unit of metrics that are in payoffs: their games are on the common scale where they have one."""
UNITS_OF_GAMES = (PAYOFF, RETURN, OF_PAYOFFS)
"""Units that differ from game to game, so that a title names them."""
OF_GAME = "GAME."
"""First part of the keys of figures of audits, which stands for the name of the game."""


@dataclass(frozen=True)
class Figure:
    """Key, label, unit, better direction and explanation of a figure."""

    key: str
    """Name in JSON, in data frames, in the metrics of runs and in recipes."""
    label: str
    """Heading of its column for a reader."""
    unit: str = ""
    """Unit; empty for a pure number."""
    better: Better = "neither"
    explanation: str = ""
    """Sentence without a subject and without a full stop, which says what the figure is."""
    null: str = ""
    """Description of the null hypothesis; empty where there is none."""
    digits: int = 3
    """Number of decimals that are printed."""
    main: bool = False
    """True for a figure of the first screen; the others are printed with `--all`."""
