"""Failed turns in training: a player that raises loses its turn by the game's rule, and play goes on.

Figures against such a player are those of the game's default action, so the loop reports it as a fault.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from stratagem.learning.monitor import CheckFailed, Finding, TrainingWarning
from stratagem.play.records import Episode
from stratagem.training.stage import Metrics

CHECK = "failed_turn"
"""Name of the finding."""


def report_failed_turns(
    episodes: Iterable[Episode], step: int, findings: dict[str, Any], *, strict: bool = False
) -> Metrics:
    """Add the failed turns of a step to the findings, warn of the first; a strict run stops."""
    failed = [(episode.players[seat], said) for episode in episodes for seat, said in episode.failed_turns()]
    if not failed:
        return {}
    player, said = failed[0]
    sentence = f"{player.rpartition('@')[0]} failed in {len(failed)} turns of a step, the first time with {said}."
    if strict:
        raise CheckFailed(f"{sentence} (check {CHECK})")
    known = findings.get(CHECK)
    if known is None:
        warnings.warn(f"{sentence} (check {CHECK})", TrainingWarning, stacklevel=3)
        findings[CHECK] = asdict(Finding("fault", 1, step, sentence))
    else:
        findings[CHECK] = {**known, "count": known["count"] + 1}
    return {f"checks/{CHECK}": 1.0}
