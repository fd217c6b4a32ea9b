"""Answers and actions about runs: several over one another, populations, paired deals, reports, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stratagem.games.base import Json
from stratagem.viewer.library import Library
from stratagem.viewer.notes import write_note
from stratagem.viewer.overlay import overlay
from stratagem.viewer.pairs import pair, pairs
from stratagem.viewer.population import population, populations
from stratagem.viewer.report_pages import report_page

RUN_ANSWERS: Mapping[str, Callable[[Library, Mapping[str, str]], Json]] = {
    "overlay": overlay,
    "pair": pair,
    "pairs": pairs,
    "populations": populations,
    "population": population,
    "report": report_page,
}
"""Answers by the name of their address."""
RUN_ACTS: Mapping[str, Callable[[Library, Json], Json]] = {"note": write_note}
"""Actions on request, by name."""
