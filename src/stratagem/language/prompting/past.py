"""Memory of earlier episodes: the number of times each joint action was played, and the last one.

It is data, made from the record of those episodes (`playing.memory`) and handed to the seat with its turn, as players
keep no state. What was played in the present episode is in the view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stratagem.base.errors import BadParameter

Joint = tuple[str, ...]
"""Joint action: one's own action first, then the others' in the order of the match's players."""


@dataclass(frozen=True)
class Past:
    """Earlier episodes of a trial as one seat remembers them; rounds of a null action count in `rounds` alone."""

    counts: Mapping[Joint, int] = field(default_factory=dict)
    """Number of times each joint action was played, the last time included."""
    last: Joint | None = None
    """Last joint action."""
    rounds: int = 0
    """Number of rounds."""

    def __post_init__(self) -> None:
        if (self.last is not None or self.counts) and (self.last is None or self.counts.get(self.last, 0) < 1):
            raise BadParameter(
                f"A past counts the joint action that was last among the others, unlike {self.last} in {self.counts}."
            )


NOTHING = Past()
