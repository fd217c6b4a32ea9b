"""Sections of reproduction: the command, the seed, the program's commit, the versions, the machine, and the recipe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stratagem.show.html import Html, element, join
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, missing, table


def repeat(data: RunData) -> Section:
    """Make the section from the run's provenance."""
    return Section(
        name="repeat",
        title="Reproduction",
        shows="The same command, versions and processor type give bit-identical results.",
        body=join(
            element("pre", data.info.command, tabindex="0"),
            element("div", table(["", ""], list(_rows(data))), class_="facts"),
        ),
    )


def _rows(data: RunData) -> Iterator[list[str]]:
    info = data.info
    yield ["seed", str(info.seed)]
    yield ["commit", _commit(info.commit, info.dirty)]
    yield ["started", info.begun]
    yield [data.status.state, data.status.since or "\u2013"]
    for name, value in info.made_by.items():
        if name not in ("command", "commit", "dirty"):
            yield [name, _text(value)]
    for component, sentence in info.reading.items():
        yield [f"{component}: texts are read", sentence]


def _commit(commit: str | None, dirty: bool | None) -> Html:
    if commit is None:
        return join("unknown: the program was not in a git repository")
    changed = element("span", " with uncommitted changes", class_="doubt") if dirty else ""
    return join(element("code", commit), changed)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {own}" for name, own in value.items())
    return str(value)


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
