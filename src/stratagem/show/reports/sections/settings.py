"""Section of the resolved recipe: every setting of the run, defaults included."""

from __future__ import annotations

from stratagem.show.html import element
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, missing


def settings(data: RunData) -> Section:
    """Make the section of the recipe as text."""
    recipe = data.settings_text
    return Section(
        name="settings",
        title="Recipe",
        shows="All settings of the run, with defaults.",
        body=element("pre", recipe, class_="toml", tabindex="0") if recipe else missing(_why(data)),
    )


def _why(data: RunData) -> str:
    return data.broken.get("config.toml", "config.toml is empty.")
