"""Names in modules that were renamed: an import of the old name gives what has the new name, until release 0.5."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

RENAMED: Mapping[str, Mapping[str, str]] = {
    "games": {"Part": "ActionPart", "Reply": "ParsedReply"},
    "games.conformance": {"Check": "RuleCheck", "Report": "ConformanceReport", "Transcript": "PlayedPath"},
    "language.engines.base": {"Answered": "RequestAnswer"},
    "language.prompting.base": {"Message": "ChatMessage"},
    "learn.losses.base": {"combined": "combine_outputs"},
    "measure.audit.measurement": {"estimated": "fill_figure"},
    "measure.labels": {"Reading": "LabelReading"},
    "measure.suites": {"Line": "SuiteLine"},
    "players.base": {"Scored": "ScoredActions", "described": "describe_player", "shown": "format_option"},
    "playing.seating": {"rotated": "rotate_seats"},
    "playing.workers.shards": {"played": "play_setups"},
    "training.stage": {"Batch": "TrainingBatch"},
}
"""By module below `stratagem`, as it is called now: new names by old names. Only public names are here."""


def old_names_of(module: ModuleType) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module, which answers old names with a warning."""
    names = RENAMED[module.__name__.partition(".")[2]]

    def answer(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        old, new = f"{module.__name__}.{name}", names[name]
        warnings.warn(f"{old} is now {new}.", DeprecationWarning, stacklevel=2)
        return getattr(module, new)

    return answer
