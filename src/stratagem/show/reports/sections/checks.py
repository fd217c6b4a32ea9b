"""Section of the findings of training checks: the first sentence of each, its number, and its steps."""

from __future__ import annotations

from stratagem.show.html import Html, element
from stratagem.show.reports.files import FindingSchema
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, missing, table


def checks(data: RunData) -> Section:
    """Make the section of all findings, faults before notes."""
    return Section(
        name="checks",
        title="Findings of the checks",
        shows="The checks look at every step for faults of training that raise no error.",
        body=_body(data),
    )


def _body(data: RunData) -> Html:
    if data.findings is None:
        return missing(
            data.broken.get("findings.json", "There is no findings.json: this run has saved no findings yet.")
        )
    if not data.findings:
        return element("p", "The checks found nothing.", class_="good")
    findings = sorted(data.findings.items(), key=lambda item: (item[1].level != "fault", -item[1].count))
    return table(
        ["check", "first finding", "level", "count", "first step"],
        [_row(*finding) for finding in findings],
    )


def _row(name: str, finding: FindingSchema) -> list[str]:
    first = "" if finding.step is None else str(finding.step)
    level = element("span", finding.level, class_="bad" if finding.level == "fault" else "doubt")
    return [name, element("td", finding.first, class_="words"), level, str(finding.count), first or "\u2013"]
