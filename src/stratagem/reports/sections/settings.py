"""The resolved recipe: every setting that the run had, defaults included."""

from __future__ import annotations

from stratagem.reports.html import element
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, missing


def settings(data: RunData) -> Section:
    """The recipe as it lies in the run."""
    said = data.settings_text
    return Section(
        name="settings",
        title="The recipe",
        shows="Every setting that the run had, defaults included.",
        body=element("pre", said, class_="toml", tabindex="0") if said else missing(_why(data)),
    )


def _why(data: RunData) -> str:
    return data.broken.get("config.toml", "config.toml is empty.")
