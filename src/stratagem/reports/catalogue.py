"""Sections of a report by algorithm, in their order on the page."""

from __future__ import annotations

from collections.abc import Mapping

from stratagem.reports.run_data import RunData
from stratagem.reports.section import Maker, Section
from stratagem.reports.sections.checks import checks
from stratagem.reports.sections.contest import contest, learnt_from
from stratagem.reports.sections.curves import curves
from stratagem.reports.sections.dominated import dominated
from stratagem.reports.sections.equilibrium import equilibrium
from stratagem.reports.sections.league import best_response, inside, pool, population
from stratagem.reports.sections.openings import openings
from stratagem.reports.sections.outcome import outcome
from stratagem.reports.sections.play import play
from stratagem.reports.sections.repeat import repeat
from stratagem.reports.sections.results import results
from stratagem.reports.sections.scores import scores
from stratagem.reports.sections.settings import settings
from stratagem.reports.sections.signals import signals
from stratagem.reports.sections.trials import trials

SECTIONS: Mapping[str, tuple[Maker, ...]] = {
    "grpo": (scores, dominated, equilibrium, openings, curves, signals, checks, play, settings, repeat),
    "league": (
        pool,
        best_response,
        scores,
        population,
        dominated,
        equilibrium,
        openings,
        inside,
        curves,
        checks,
        play,
        settings,
        repeat,
    ),
    "shapellm": (outcome, trials, curves, checks, play, settings, repeat),
    "scopal": (contest, learnt_from, dominated, equilibrium, openings, curves, checks, play, settings, repeat),
    "sepo": (results, dominated, equilibrium, openings, curves, signals, checks, play, settings, repeat),
}
"""Sections by algorithm."""
ANY: tuple[Maker, ...] = (curves, checks, play, settings, repeat)
"""Sections of any other run."""


def sections(data: RunData) -> list[Section]:
    """Make the sections that apply to a run."""
    makers = SECTIONS.get(data.algorithm, ANY)
    return [section for make in makers if (section := make(data)) is not None]
