"""Sections of a report by algorithm, in their order on the page.

A package adds a section by the entry point `stratagem.report_sections`.
"""

from __future__ import annotations

from collections.abc import Mapping

from stratagem.base.errors import StratagemError
from stratagem.base.registry import NamedCall, Registry
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Maker, Section, missing
from stratagem.show.reports.sections.contest import contest, training_data
from stratagem.show.reports.sections.curves import curves
from stratagem.show.reports.sections.equilibrium import dominated_actions, equilibrium, openings
from stratagem.show.reports.sections.league import best_response, matchmaking, pool, population
from stratagem.show.reports.sections.outcome import outcome
from stratagem.show.reports.sections.play import play
from stratagem.show.reports.sections.repeat import repeat, settings
from stratagem.show.reports.sections.results import results
from stratagem.show.reports.sections.signals import checks, signals
from stratagem.show.reports.sections.trials import trials

SECTIONS: Mapping[str, tuple[Maker, ...]] = {
    "grpo": (results, dominated_actions, equilibrium, openings, curves, signals, checks, play, settings, repeat),
    "league": (
        pool,
        best_response,
        results,
        population,
        dominated_actions,
        equilibrium,
        openings,
        matchmaking,
        curves,
        checks,
        play,
        settings,
        repeat,
    ),
    "shapellm": (outcome, trials, curves, checks, play, settings, repeat),
    "scopal": (
        contest,
        training_data,
        dominated_actions,
        equilibrium,
        openings,
        curves,
        checks,
        play,
        settings,
        repeat,
    ),
    "reinforce": (results, dominated_actions, equilibrium, openings, curves, checks, play, settings, repeat),
    "sepo": (results, dominated_actions, equilibrium, openings, curves, signals, checks, play, settings, repeat),
}
"""Sections by algorithm."""
ANY: tuple[Maker, ...] = (curves, checks, play, settings, repeat)
"""Sections of the run of any other algorithm."""
LAST = (settings, repeat)
"""Sections at the end of every report, after those of packages."""
PACKAGES: Registry[Section | None] = Registry("report section", {}, "stratagem.report_sections")
"""Sections that packages add; each is made for every run."""


def sections(data: RunData) -> list[Section]:
    """Make the sections that apply to a run."""
    own = SECTIONS.get(data.algorithm, ANY)
    built = [make(data) for make in own if make not in LAST]
    built += [_of_package(name, data) for name in PACKAGES.names()]
    built += [make(data) for make in own if make in LAST]
    return [section for section in built if section is not None]


def _of_package(name: str, data: RunData) -> Section | None:
    """Make a section of a package; a section that fails has the error as its body."""
    try:
        return PACKAGES.make(NamedCall(name, (data,), {}))
    except StratagemError as error:
        return Section(name="broken-section", title=name, shows="Section of another package.", body=missing(str(error)))
