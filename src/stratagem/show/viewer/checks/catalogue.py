"""Every check of a record, in the order in which the page lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.games.base import Json
from stratagem.show.viewer.checks.adapters import adapters, advantage_sign
from stratagem.show.viewer.checks.base import CheckResult, Source
from stratagem.show.viewer.checks.hidden import leak
from stratagem.show.viewer.checks.replies import cut, length, mask
from stratagem.show.viewer.decision_index import ShardIndex, index_of
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.parameters import require_parameter
from stratagem.training.runs.folder import RunFolder

_LOOKED_AT = 12
"""Largest number of shards that are looked at: the first, the last, and others in equal distances."""


class ReplayCheck(NamedTuple):
    """Check with its question."""

    question: str
    look: Callable[[Source], CheckResult]


CHECKS: Mapping[str, ReplayCheck] = {
    "advantage": ReplayCheck("Does a larger return go with a larger advantage?", advantage_sign),
    "adapter": ReplayCheck("Do updates change the adapter?", adapters),
    "prompt": ReplayCheck("Are all prompts whole?", cut),
    "hidden": ReplayCheck("Does a prompt say only what its seat may know?", leak),
    "mask": ReplayCheck("Are sampled tokens inside the legal set?", mask),
    "length": ReplayCheck("Are all replies whole?", length),
}


def show_checks(library: Library, asked: Mapping[str, str]) -> Json:
    """Return what each check finds in a record."""
    folder = library.record(require_parameter(asked, "record"))
    run, indices = library.run_of(folder), index_of(folder)
    return _check_record(folder, tuple(indices), run.path if run else None)


@lru_cache(maxsize=8)
def _check_record(folder: Path, indices: tuple[ShardIndex, ...], run: Path | None) -> Json:
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


def _row(name: str, check: ReplayCheck, source: Source) -> Json:
    try:
        found = check.look(source)
    except StratagemError as error:
        found = CheckResult("not checked", str(error))
    return {
        "name": name,
        "question": check.question,
        "state": found.state,
        "sentence": found.sentence,
        "count": found.count,
        "places": [place.where | {"sentence": place.sentence} for place in found.places],
    }
