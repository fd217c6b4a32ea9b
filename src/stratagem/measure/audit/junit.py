"""Figures as JUnit XML, which continuous integration reads: a test case for each figure and each condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, SubElement, tostring

from stratagem.base.visible import visible
from stratagem.measure.audit.card import Card
from stratagem.measure.audit.condition import Outcome
from stratagem.measure.audit.measurement import Measurement


def junit(card: Card, outcomes: Mapping[str, Outcome]) -> str:
    """Write the card."""
    reasons = {text: card.why_inconclusive(text) for text, outcome in outcomes.items() if outcome == "inconclusive"}
    return figures_as_junit(f"audit of {card.agent}", card.figures, card.not_measured, outcomes, reasons)


def figures_as_junit(
    title: str,
    figures: Iterable[Measurement],
    not_measured: Mapping[str, str],
    outcomes: Mapping[str, Outcome],
    reasons: Mapping[str, str],
) -> str:
    """Write figures; a condition that holds is a failure, an alarm is told, what was not measured is skipped.

    So the suite fails where the command does: an alarm alone ends no audit with a status other than 0. `reasons` says
    why conditions are inconclusive.
    """
    suites = Element("testsuites")
    measured = SubElement(suites, "testsuite", name=visible(title))
    for figure in figures:
        _case(measured, figure)
    for name, reason in not_measured.items():
        case = SubElement(measured, "testcase", classname="not measured", name=visible(name))
        SubElement(case, "skipped", message=visible(reason))
    conditions = SubElement(suites, "testsuite", name="conditions")
    for text, outcome in outcomes.items():
        case = SubElement(conditions, "testcase", classname="condition", name=visible(text))
        if outcome == "holds":
            SubElement(case, "failure", message=f"The condition holds: {visible(text)}")
        elif outcome == "inconclusive":
            SubElement(case, "skipped", message=visible(reasons[text]))
    for suite in (measured, conditions):
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _case(suite: Element, figure: Measurement) -> None:
    case = SubElement(suite, "testcase", classname=figure.group, name=visible(figure.name))
    if figure.why_not:
        SubElement(case, "skipped", message=visible(figure.why_not))
    elif figure.alarm or figure.differs:
        told = SubElement(case, "system-out")
        alarm = f"Alarm. Rejected hypothesis: {figure.null}. {figure.example}".strip()
        told.text = visible(alarm if figure.alarm else f"Differs. {figure.method}")
