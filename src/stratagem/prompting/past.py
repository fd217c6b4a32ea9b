"""What a seat carries over from the episodes before: how often each joint action was played, and which one was last.

It is data, made from the record of those episodes (`play.memory`) and handed to the seat with its turn, since players
keep no state. What was played in the present episode is in the view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stratagem.errors import BadParameter

Joint = tuple[str, ...]
"""What was played at once: one's own action first, then the others' in the order of the match's players."""


@dataclass(frozen=True)
class Past:
    """The earlier episodes of a trial as one seat remembers them; rounds of a null action are in `rounds` alone."""

    counts: Mapping[Joint, int] = field(default_factory=dict)
    """How often each joint action was played, the last time included."""
    last: Joint | None = None
    """The joint action that was played last."""
    rounds: int = 0
    """How many rounds there were."""

    def __post_init__(self) -> None:
        if (self.last is not None or self.counts) and (self.last is None or self.counts.get(self.last, 0) < 1):
            raise BadParameter(
                f"A past counts the joint action that was last among the others, unlike {self.last} in {self.counts}."
            )


NOTHING = Past()
