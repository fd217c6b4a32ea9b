"""Section of the resolved recipe: every setting of the run, defaults included."""

from __future__ import annotations

from stratagem.reports.html import element
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, missing


def settings(data: RunData) -> Section:
    """Make the section of the recipe as text."""
    text_of = data.settings_text
    return Section(
        name="settings",
        title="The recipe",
        shows="Every setting that the run had, defaults included.",
        body=element("pre", text_of, class_="toml", tabindex="0") if text_of else missing(_why(data)),
    )


def _why(data: RunData) -> str:
    return data.broken.get("config.toml", "config.toml is empty.")
