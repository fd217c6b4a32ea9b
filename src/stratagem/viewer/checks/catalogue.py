"""Every check of a record, in the order in which the page lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from stratagem.errors import StratagemError
from stratagem.games.base import Json
from stratagem.runs.folder import RunFolder
from stratagem.viewer.checks.adapters import adapters
from stratagem.viewer.checks.advantage import advantage_sign
from stratagem.viewer.checks.base import Found, Source
from stratagem.viewer.checks.hidden import leak
from stratagem.viewer.checks.prompt import cut
from stratagem.viewer.checks.replies import length, mask
from stratagem.viewer.decision_index import ShardIndex, index_of

_LOOKED_AT = 12
"""Largest number of shards that are looked at: the first, the last, and others in equal distances."""


class Check(NamedTuple):
    """Check with its question."""

    question: str
    look: Callable[[Source], Found]


CHECKS: Mapping[str, Check] = {
    "advantage": Check("Does a larger return go with a larger advantage?", advantage_sign),
    "adapter": Check("Do updates change the adapter?", adapters),
    "prompt": Check("Are all prompts whole?", cut),
    "hidden": Check("Does a prompt say only what its seat may know?", leak),
    "mask": Check("Are sampled tokens inside the legal set?", mask),
    "length": Check("Are all replies whole?", length),
}


def checks_of(folder: Path, run: RunFolder | None) -> Json:
    """Return what each check finds in a record."""
    indices = index_of(folder)
    return _checked(folder, tuple(indices), run.path if run else None)


@lru_cache(maxsize=8)
def _checked(folder: Path, indices: tuple[ShardIndex, ...], run: Path | None) -> Json:
    chosen = _spread(indices)
    source = Source(folder, chosen, RunFolder(run) if run else None)
    return {
        "shards": len(indices),
        "looked_at": len(chosen),
        "checks": [_row(name, check, source) for name, check in CHECKS.items()],
    }


def _spread(indices: Sequence[ShardIndex]) -> list[ShardIndex]:
    last = len(indices) - 1
    if last < _LOOKED_AT:
        return [*indices]
    return [indices[round(place * last / (_LOOKED_AT - 1))] for place in range(_LOOKED_AT)]


def _row(name: str, check: Check, source: Source) -> Json:
    try:
        found = check.look(source)
    except StratagemError as error:
        found = Found("not checked", str(error))
    return {
        "name": name,
        "question": check.question,
        "state": found.state,
        "sentence": found.sentence,
        "count": found.count,
        "places": [place.where | {"sentence": place.sentence} for place in found.places],
    }
