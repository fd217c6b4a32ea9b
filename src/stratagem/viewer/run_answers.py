"""Answers and actions about runs: several over one another, populations, paired deals, sections, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stratagem.games.base import Json
from stratagem.viewer.library import Library
from stratagem.viewer.notes import write_note
from stratagem.viewer.overlay import overlay
from stratagem.viewer.pairs import pair, pairs
from stratagem.viewer.parameters import given
from stratagem.viewer.population import population, populations
from stratagem.viewer.runs import report_sections

REPORT = "report.html"


def _sections(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the sections of the report of a run, where one has been written."""
    name = f"{given(asked, 'run')}/{REPORT}"
    return {"page": name if name in library.pages else None, "sections": report_sections(library.pages.get(name))}


RUN_ANSWERS: Mapping[str, Callable[[Library, Mapping[str, str]], Json]] = {
    "overlay": overlay,
    "pair": pair,
    "pairs": pairs,
    "populations": populations,
    "population": population,
    "sections": _sections,
}
"""Answers by the name of their address."""
RUN_ACTS: Mapping[str, Callable[[Library, Json], Json]] = {"note": write_note}
"""Actions on request, by name."""
