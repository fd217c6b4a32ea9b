"""Section of reproduction: the command, the seed, the program's commit, the versions and the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stratagem.reports.html import Html, element, join
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, table


def repeat(data: RunData) -> Section:
    """Make the section from the run's provenance."""
    return Section(
        name="repeat",
        title="How to repeat it",
        shows="The same command with the same versions on one kind of processor gives the same numbers, to the bit.",
        body=join(
            element("pre", data.info.command, tabindex="0"),
            element("div", table(["", ""], list(_rows(data))), class_="facts"),
        ),
    )


def _rows(data: RunData) -> Iterator[list[str]]:
    info = data.info
    yield ["seed", str(info.seed)]
    yield ["commit", _commit(info.commit, info.dirty)]
    yield ["begun", info.begun]
    yield [data.status.state, data.status.since or "\u2013"]
    for name, value in info.made_by.items():
        if name not in ("command", "commit", "dirty"):
            yield [name, _told(value)]


def _commit(commit: str | None, dirty: bool | None) -> Html:
    if commit is None:
        return join("not known: the program was not kept by git")
    changed = element("span", " with changes that are not in it", class_="doubt") if dirty else ""
    return join(element("code", commit), changed)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {own}" for name, own in value.items())
    return str(value)
